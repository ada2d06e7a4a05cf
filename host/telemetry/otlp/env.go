package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// prefix is that of an exporter's variables.
const prefix = "OTEL_EXPORTER_OTLP_"

// FromEnv reads the standard variables of exporters, most often by [os.Getenv], and
// the files they name: OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _TIMEOUT, _COMPRESSION,
// _PROTOCOL, _CERTIFICATE, _CLIENT_CERTIFICATE and _CLIENT_KEY, the same for TRACES and
// METRICS alone, which go before those, OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER,
// OTEL_SERVICE_NAME and OTEL_SDK_DISABLED. It reports false where they ask for nothing
// to be sent, which they do unless there is an endpoint, and an error where they ask
// for what this package cannot do, or make no sense.
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
	c.Service = getenv("OTEL_SERVICE_NAME")
	return c, true, errors.Join(e.errs...)
}

// environment collects what is wrong with the variables.
type environment struct {
	getenv func(string) string
	errs   []error
}

// fail adds an error, once: a variable for all kinds is read for each.
func (e *environment) fail(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if !slices.ContainsFunc(e.errs, func(other error) bool { return other.Error() == err.Error() }) {
		e.errs = append(e.errs, err)
	}
}

// both reads a variable for one kind, or else that for all, and says which it is.
func (e *environment) both(kind, name string) (value, variable string) {
	variable = prefix + kind + "_" + name
	if value = e.getenv(variable); value == "" {
		variable = prefix + name
		value = e.getenv(variable)
	}
	return value, variable
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
	if err := t.check(); err != nil {
		e.errs = append(e.errs, fmt.Errorf("for %s, %w", strings.ToLower(kind), err))
	}
	if protocol, name := e.both(kind, "PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		e.fail("%s is %.40q; only http/protobuf is spoken here", name, protocol)
	}
	t.Headers = e.headers(kind)
	t.Timeout = e.timeout(kind)
	t.Gzip = e.compression(kind)
	if strings.HasPrefix(t.URL, "https:") {
		t.TLS = e.tls(kind)
	}
	return t
}

// headers reads a list such as a=1,b=2, whose values are percent-encoded. They are
// secrets, which no error repeats.
func (e *environment) headers(kind string) map[string]string {
	out := make(map[string]string)
	list, name := e.both(kind, "HEADERS")
	for field := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(field) == "" {
			continue
		}
		key, value, ok := strings.Cut(field, "=")
		text, err := url.PathUnescape(strings.TrimSpace(value))
		if key = strings.TrimSpace(key); !ok || key == "" || err != nil || strings.ContainsFunc(key+text, unfit) {
			e.fail("%s is no list such as name=value,name=value", name)
			return nil
		}
		out[key] = text
	}
	return out
}

// unfit are characters that no header has.
func unfit(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

func (e *environment) timeout(kind string) time.Duration {
	text, name := e.both(kind, "TIMEOUT")
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > int(time.Hour/time.Millisecond) {
		e.fail("%s is %.40q; write a number of milliseconds from 1 to an hour", name, text)
	}
	return time.Duration(n) * time.Millisecond
}

func (e *environment) compression(kind string) bool {
	how, name := e.both(kind, "COMPRESSION")
	if how != "" && how != "none" && how != "gzip" {
		e.fail("%s is %.40q; there are gzip and none", name, how)
	}
	return how == "gzip"
}

// tls reads whom to trust, and who this is, from files in PEM.
func (e *environment) tls(kind string) *tls.Config {
	trusted, trustedName := e.both(kind, "CERTIFICATE")
	certificate, certificateName := e.both(kind, "CLIENT_CERTIFICATE")
	key, keyName := e.both(kind, "CLIENT_KEY")
	if trusted == "" && certificate == "" && key == "" {
		return nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if trusted != "" {
		c.RootCAs = x509.NewCertPool()
		text, err := os.ReadFile(trusted)
		if err == nil && !c.RootCAs.AppendCertsFromPEM(text) {
			err = errors.New("the file holds no certificate in PEM")
		}
		if err != nil {
			e.fail("%s: %w", trustedName, err)
		}
	}
	if certificate != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			e.fail("%s and %s: %w", certificateName, keyName, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c
}
