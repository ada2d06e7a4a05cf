package stage_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/host/internal/stage"
)

// changed returns a stage in which a command changed a number of files of 2 KiB.
func changed(b *testing.B, files int) (*room, *upper) {
	b.Helper()
	r, u := layered(b)
	text := strings.Repeat("a line of some length\n", 90)
	for i := range files {
		dir := fmt.Sprintf("s%02d", i%100)
		if i < 100 {
			u.must(mkdir(r.work, dir))
			u.mkdir(dir)
		}
		name := fmt.Sprintf("%s/f%d", dir, i)
		u.must(write(r.work, name, text, 0o644))
		u.write(name, strings.Replace(text, "line", fmt.Sprint("row ", i), 1), 0o644)
	}
	r.ran()
	return r, u
}

const many = 10_000

func BenchmarkScan(b *testing.B) {
	r, _ := changed(b, many)
	for b.Loop() {
		r.ran()
	}
}

func BenchmarkPatch(b *testing.B) {
	r, _ := changed(b, many)
	for b.Loop() {
		if _, err := r.Patch(b.Context(), io.Discard, everything, changes.PatchOptions{Dir: r.work}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkApply compares applying files with copying them.
func BenchmarkApply(b *testing.B) {
	for name, apply := range map[string]func(r *room, u *upper) error{
		"cp": func(r *room, u *upper) error {
			return exec.CommandContext(b.Context(), "cp", "-a", u.dir+"/.", r.work).Run()
		},
		"cp, synced": func(r *room, u *upper) error {
			return exec.CommandContext(b.Context(), "sh", "-c", "cp -a '"+u.dir+"/.' '"+r.work+"' && sync -f '"+r.work+"'").Run()
		},
		"cp --remove-destination, synced": func(r *room, u *upper) error {
			return exec.CommandContext(b.Context(), "sh", "-c", "cp -a --remove-destination '"+u.dir+"/.' '"+r.work+"' && sync -f '"+r.work+"'").Run()
		},
		"apply": func(r *room, _ *upper) error {
			_, err := stage.Open(r.dir, stage.Options{}).Apply(b.Context(), everything)
			return err
		},
		"apply, history": func(r *room, _ *upper) error {
			_, err := r.Apply(b.Context(), everything)
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				r, u := changed(b, many/10)
				b.StartTimer()
				if err := apply(r, u); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				_ = os.RemoveAll(filepath.Dir(r.dir))
				b.StartTimer()
			}
		})
	}
}
