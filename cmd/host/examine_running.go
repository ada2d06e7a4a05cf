package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/host/telemetry/otlp"
	"github.com/toolquay/toolquay/permissions/settings"
	"github.com/toolquay/toolquay/plugins/worker"
	"github.com/toolquay/toolquay/scheduler"
)

// examineRunning tells how calls would run, what settings say of it, where sessions are
// kept, and who is told.
func examineRunning(d *diagnosis, s *setup) {
	o := &s.options
	mode := settings.ByLocks
	if o.Limits.PlainBatches {
		mode = settings.ByBatch
	}
	d.add("scheduler", fine, fmt.Sprintf("by %s, at most %d calls of a turn at once", mode, cmp.Or(o.Limits.MaxConcurrent, scheduler.DefaultMaxConcurrent)))
	for _, m := range s.loaded.Made() {
		d.add("setting", fine, m.String())
	}
	examineSessions(d, o.Storage.Sessions)
	examineTelemetry(d, s)
}

func examineSessions(d *diagnosis, dir string) {
	entries, err := os.ReadDir(dir)
	switch {
	case dir == "":
		d.add("sessions", note, "there is no place for them, so that long results are cut: no directory for state can be written")
	case os.IsNotExist(err):
		examineWritten(d, "sessions", fmt.Sprintf("kept in %s (not there yet)", dir), dir)
	case err != nil:
		d.add("sessions", wrong, err.Error())
	default:
		entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return !e.IsDir() })
		examineWritten(d, "sessions", fmt.Sprintf("kept in %s (%d there)", dir, len(entries)), dir)
	}
}

func examineTelemetry(d *diagnosis, s *setup) {
	config, asked, err := s.telemetryConfig(os.Getenv)
	switch {
	case err != nil:
		d.add("telemetry", wrong, err.Error())
	case !asked:
		d.add("telemetry", fine, "off")
	default:
		d.add("telemetry", fine, telemetryText(&config))
	}
}

func telemetryText(c *otlp.Config) string {
	var places []string
	if c.Traces.URL != "" {
		places = append(places, "traces to "+c.Traces.URL)
	}
	if c.Metrics.URL != "" {
		places = append(places, "metrics to "+c.Metrics.URL)
	}
	text := strings.Join(places, ", ")
	if c.Content {
		text += ", with what calls are given and answer"
	}
	return text
}

// examineWorkers says what this machine offers to confine worker processes with.
func examineWorkers(d *diagnosis) {
	if _, err := worker.Self(); err != nil {
		d.add("workers", wrong, "no worker processes can be started: "+err.Error())
		return
	}
	text, filtered := worker.Confinement()
	s := fine
	if !filtered {
		s = note
	}
	d.add("workers", s, text)
}

// examineWritten tells whether files can be made in a directory, if there is one.
func examineWritten(d *diagnosis, area, text, dir string) {
	if dir == "" {
		d.add(area, note, text+"there is no directory for them: neither HOME nor its XDG variable is set")
		return
	}
	if err := config.CheckWritable(dir); err != nil {
		d.add(area, wrong, fmt.Sprintf("%s, which cannot be written: %v", text, err))
		return
	}
	d.add(area, fine, text)
}
