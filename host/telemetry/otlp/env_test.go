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
		"base":       {map[string]string{p + "ENDPOINT": "http://h:4318/"}, "http://h:4318/v1/traces map[] http://h:4318/v1/metrics map[] 0s false "},
		"path":       {map[string]string{p + "ENDPOINT": "https://h/otlp"}, "https://h/otlp/v1/traces map[] https://h/otlp/v1/metrics map[] 0s false "},
		"own":        {map[string]string{p + "TRACES_ENDPOINT": "http://t/x"}, "http://t/x map[]  map[] 0s false "},
		"both":       {map[string]string{p + "ENDPOINT": "http://h", p + "METRICS_ENDPOINT": "http://m"}, "http://h/v1/traces map[] http://m map[] 0s false "},
		"none":       {map[string]string{p + "ENDPOINT": "http://h", "OTEL_METRICS_EXPORTER": "none"}, "http://h/v1/traces map[]  map[] 0s false "},
		"all none":   {map[string]string{p + "ENDPOINT": "http://h", "OTEL_METRICS_EXPORTER": "none", "OTEL_TRACES_EXPORTER": "none"}, "off"},
		"disabled":   {map[string]string{p + "ENDPOINT": "nonsense", "OTEL_SDK_DISABLED": "TRUE"}, "off"},
		"all":        {map[string]string{p + "ENDPOINT": "http://h", p + "HEADERS": " a=b%20c , d=e,", p + "TRACES_HEADERS": "d=f", p + "TIMEOUT": "1500", p + "COMPRESSION": "gzip", p + "PROTOCOL": "http/protobuf", "OTEL_SERVICE_NAME": "me"}, "http://h/v1/traces map[a:b c d:f] http://h/v1/metrics map[a:b c d:e] 1.5s true me"},
		"gRPC":       {map[string]string{p + "ENDPOINT": "http://h", p + "PROTOCOL": "grpc"}, `the protocol for traces is "grpc"; only http/protobuf is spoken here`},
		"other":      {map[string]string{p + "ENDPOINT": "http://h", "OTEL_TRACES_EXPORTER": "zipkin"}, `OTEL_TRACES_EXPORTER is "zipkin"; there are otlp and none`},
		"no URL":     {map[string]string{p + "ENDPOINT": "h:4318"}, "the endpoint for traces is no URL such as http://localhost:4318"},
		"timeout":    {map[string]string{p + "ENDPOINT": "http://h", p + "TIMEOUT": "10s"}, p + `TIMEOUT is "10s"; write a number of milliseconds`},
		"compressed": {map[string]string{p + "ENDPOINT": "http://h", p + "COMPRESSION": "zstd"}, `the compression for traces is "zstd"; there are gzip and none`},
		"secret":     {map[string]string{p + "ENDPOINT": "http://h", p + "HEADERS": "hush"}, p + "HEADERS is no list such as name=value,name=value"},
		"line":       {map[string]string{p + "ENDPOINT": "http://h", p + "HEADERS": "a=hush%0a"}, p + "HEADERS is no list"},
		"trust":      {map[string]string{p + "ENDPOINT": "http://h", p + "CERTIFICATE": "x.pem"}, p + "CERTIFICATE is not heeded here"},
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
				got = fmt.Sprint(c.Traces.URL, " ", c.Traces.Headers, " ", c.Metrics.URL, " ", c.Metrics.Headers, " ", c.Timeout, " ", c.Gzip, " ", c.Service)
			}
			if err == nil && got != tt.want || !strings.Contains(got, tt.want) || strings.Contains(got, "hush") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if _, _, err := otlp.FromEnv(func(string) string { return "nonsense" }); err == nil {
		t.Error("nonsense is taken")
	}
}
