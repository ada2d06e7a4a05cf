package otlp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/telemetry/otlp"
)

func TestFromEnv(t *testing.T) {
	t.Parallel()
	const p = "OTEL_EXPORTER_OTLP_"
	tests := map[string]struct {
		vars map[string]string
		// want is what is read, or a part of the error.
		want string
	}{
		"nothing":    {nil, "off"},
		"headers":    {map[string]string{p + "HEADERS": "a=b"}, "off"},
		"base":       {map[string]string{p + "ENDPOINT": "http://h:4318/"}, "http://h:4318/v1/traces http://h:4318/v1/metrics "},
		"path":       {map[string]string{p + "ENDPOINT": "https://h/otlp"}, "https://h/otlp/v1/traces https://h/otlp/v1/metrics "},
		"own":        {map[string]string{p + "TRACES_ENDPOINT": "http://t/x"}, "http://t/x  "},
		"both":       {map[string]string{p + "ENDPOINT": "http://h", p + "METRICS_ENDPOINT": "http://m"}, "http://h/v1/traces http://m "},
		"none":       {map[string]string{p + "ENDPOINT": "http://h", "OTEL_METRICS_EXPORTER": "none"}, "http://h/v1/traces  "},
		"all none":   {map[string]string{p + "ENDPOINT": "http://h", "OTEL_METRICS_EXPORTER": "none", "OTEL_TRACES_EXPORTER": "none"}, "off"},
		"disabled":   {map[string]string{p + "ENDPOINT": "nonsense", "OTEL_SDK_DISABLED": "TRUE"}, "off"},
		"all":        {map[string]string{p + "ENDPOINT": "http://h", p + "HEADERS": " a=b%20c ,, d=e,", p + "TRACES_HEADERS": "d=f", p + "TIMEOUT": "1500", p + "METRICS_TIMEOUT": "2000", p + "COMPRESSION": "none", p + "TRACES_COMPRESSION": "gzip", p + "PROTOCOL": "http/protobuf", "OTEL_SERVICE_NAME": "me"}, "http://h/v1/traces map[d:f] 1.5s gzip http://h/v1/metrics map[a:b c d:e] 2s me"},
		"gRPC":       {map[string]string{p + "ENDPOINT": "http://h", p + "PROTOCOL": "grpc"}, p + `PROTOCOL is "grpc"; only http/protobuf is spoken here`},
		"other":      {map[string]string{p + "ENDPOINT": "http://h", "OTEL_TRACES_EXPORTER": "zipkin"}, `OTEL_TRACES_EXPORTER is "zipkin"; there are otlp and none`},
		"no URL":     {map[string]string{p + "ENDPOINT": "h:4318"}, "for traces, the endpoint of telemetry is no URL such as http://localhost:4318\nfor metrics, the endpoint"},
		"timeout":    {map[string]string{p + "ENDPOINT": "http://h", p + "TIMEOUT": "10s"}, p + `TIMEOUT is "10s"; write a number of milliseconds`},
		"compressed": {map[string]string{p + "ENDPOINT": "http://h", p + "COMPRESSION": "zstd"}, p + `COMPRESSION is "zstd"; there are gzip and none`},
		"secret":     {map[string]string{p + "ENDPOINT": "http://h", p + "HEADERS": "hush"}, p + "HEADERS is no list such as name=value,name=value"},
		"line":       {map[string]string{p + "ENDPOINT": "http://h", p + "HEADERS": "a=hush%0a"}, p + "HEADERS is no list"},
		"own secret": {map[string]string{p + "ENDPOINT": "http://h", p + "HEADERS": "a=b", p + "TRACES_HEADERS": "hush"}, p + "TRACES_HEADERS is no list"},
		"user":       {map[string]string{p + "ENDPOINT": "http://u:hush@h"}, "for traces, the endpoint of telemetry has a user"},
		"query":      {map[string]string{p + "METRICS_ENDPOINT": "http://h/?key=hush"}, "for metrics, the endpoint of telemetry has a user, a query"},
		"trust":      {map[string]string{p + "ENDPOINT": "https://h", p + "CERTIFICATE": "missing.pem"}, p + "CERTIFICATE: open missing.pem"},
		"no PEM":     {map[string]string{p + "ENDPOINT": "https://h", p + "TRACES_CERTIFICATE": "env.go"}, p + "TRACES_CERTIFICATE: the file holds no certificate in PEM"},
		"half a key": {map[string]string{p + "ENDPOINT": "https://h", p + "CLIENT_KEY": "missing.pem"}, p + "CLIENT_CERTIFICATE and " + p + "CLIENT_KEY: open"},
		"no https":   {map[string]string{p + "ENDPOINT": "http://h", p + "CERTIFICATE": "missing.pem"}, "http://h/v1/traces http://h/v1/metrics "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, asked, err := otlp.FromEnv(func(name string) string { return tt.vars[name] })
			got := fmt.Sprintln(err)
			switch {
			case err == nil && !asked:
				got = "off"
			case err == nil:
				got = show(&c.Traces) + " " + show(&c.Metrics) + " " + c.Service
			}
			if err == nil && got != tt.want || !strings.Contains(got, tt.want) || strings.Contains(got, "hush") || strings.Count(got, tt.want) > 1 {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if _, _, err := otlp.FromEnv(func(string) string { return "nonsense" }); err == nil {
		t.Error("nonsense is taken")
	}
}

// show is what is read of a target.
func show(t *otlp.Target) string {
	out := t.URL
	if len(t.Headers) > 0 {
		out += fmt.Sprint(" ", t.Headers)
	}
	if t.Timeout > 0 {
		out += fmt.Sprint(" ", t.Timeout)
	}
	if t.Gzip {
		out += " gzip"
	}
	if t.TLS != nil {
		out += " tls"
	}
	return out
}
