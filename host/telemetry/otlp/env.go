package otlp

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// prefix is that of an exporter's variables.
const prefix = "OTEL_EXPORTER_OTLP_"

// FromEnv reads the standard variables of exporters, most often by [os.Getenv]:
// OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _TIMEOUT, _COMPRESSION and _PROTOCOL, the same
// for TRACES and METRICS alone, OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER,
// OTEL_SERVICE_NAME and OTEL_SDK_DISABLED. It reports false where they ask for nothing
// to be sent, which they do unless there is an endpoint, and an error where they ask
// for what this package cannot do.
func FromEnv(getenv func(string) string) (Config, bool, error) {
	var c Config
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return c, false, nil
	}
	e := environment{getenv: getenv}
	c.Traces = e.target("TRACES", "/v1/traces")
	c.Metrics = e.target("METRICS", "/v1/metrics")
	if c.Traces.URL == "" && c.Metrics.URL == "" && len(e.errs) == 0 {
		return c, false, nil
	}
	c.Timeout = e.timeout()
	c.Gzip = e.compression()
	c.Service = getenv("OTEL_SERVICE_NAME")
	e.unread()
	return c, true, errors.Join(e.errs...)
}

// environment collects what is wrong with the variables.
type environment struct {
	getenv func(string) string
	errs   []error
}

func (e *environment) fail(format string, args ...any) {
	e.errs = append(e.errs, fmt.Errorf(format, args...))
}

// both reads a variable for one kind, or else that for all.
func (e *environment) both(kind, name string) string {
	return cmp.Or(e.getenv(prefix+kind+"_"+name), e.getenv(prefix+name))
}

func (e *environment) target(kind, path string) Target {
	switch exporter := e.getenv("OTEL_" + kind + "_EXPORTER"); exporter {
	case "", "otlp":
	case "none":
		return Target{}
	default:
		e.fail("OTEL_%s_EXPORTER is %.40q; there are otlp and none", kind, exporter)
		return Target{}
	}
	t := Target{URL: e.getenv(prefix + kind + "_ENDPOINT")} // whole, as it is
	if base := e.getenv(prefix + "ENDPOINT"); t.URL == "" && base != "" {
		t.URL = strings.TrimRight(base, "/") + path
	}
	if t.URL == "" {
		return t
	}
	if t.check() != nil {
		e.fail("the endpoint for %s is no URL such as http://localhost:4318", strings.ToLower(kind))
	}
	if protocol := e.both(kind, "PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		e.fail("the protocol for %s is %.40q; only http/protobuf is spoken here", strings.ToLower(kind), protocol)
	}
	t.Headers = e.headers("HEADERS")
	maps.Copy(t.Headers, e.headers(kind+"_HEADERS"))
	return t
}

// headers reads a list such as a=1,b=2, whose values are percent-encoded. They are
// secrets, which no error repeats.
func (e *environment) headers(name string) map[string]string {
	out := make(map[string]string)
	for field := range strings.SplitSeq(e.getenv(prefix+name), ",") {
		if strings.TrimSpace(field) == "" {
			continue
		}
		key, value, ok := strings.Cut(field, "=")
		text, err := url.PathUnescape(strings.TrimSpace(value))
		if key = strings.TrimSpace(key); !ok || key == "" || err != nil || strings.ContainsFunc(key+text, unfit) {
			e.fail("%s%s is no list such as name=value,name=value", prefix, name)
			return out
		}
		out[key] = text
	}
	return out
}

// unfit are characters that no header has.
func unfit(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// timeout is the longer of the two kinds'.
func (e *environment) timeout() time.Duration {
	var longest time.Duration
	for _, name := range []string{"TIMEOUT", "TRACES_TIMEOUT", "METRICS_TIMEOUT"} {
		text := e.getenv(prefix + name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > int(time.Hour/time.Millisecond) {
			e.fail("%s%s is %.40q; write a number of milliseconds from 1 to an hour", prefix, name, text)
			continue
		}
		longest = max(longest, time.Duration(n)*time.Millisecond)
	}
	return longest
}

func (e *environment) compression() bool {
	compressed := false
	for _, kind := range []string{"TRACES", "METRICS"} {
		switch how := e.both(kind, "COMPRESSION"); how {
		case "", "none":
		case "gzip":
			compressed = true
		default:
			e.fail("the compression for %s is %.40q; there are gzip and none", strings.ToLower(kind), how)
		}
	}
	return compressed
}

// unread refuses variables that would have an exporter trust or name itself to others
// than it does without them.
func (e *environment) unread() {
	for _, name := range []string{"CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"} {
		for _, kind := range []string{"", "TRACES_", "METRICS_"} {
			if e.getenv(prefix+kind+name) != "" {
				e.fail("%s%s%s is not heeded here; send to a collector on this machine, which does that", prefix, kind, name)
			}
		}
	}
}
