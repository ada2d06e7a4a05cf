package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel/propagation"

	hostconfig "github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/host/telemetry/otlp"
	"github.com/toolquay/toolquay/permissions"
)

// flushTime is how long the command waits, when it is done, for telemetry to leave.
const flushTime = 2 * time.Second

// openTelemetry starts sending traces and metrics, where the settings or the standard
// variables say to whom; else it returns nil. What is wrong with it stops no call.
func (s *setup) openTelemetry() *otlp.Telemetry {
	config, asked, err := s.telemetryConfig(os.Getenv)
	if err != nil {
		s.options.Observe.Logger.Warn("no telemetry is sent", "error", err)
		return nil
	}
	if !asked {
		return nil
	}
	config.Version, config.Logger = readBuild().Version, s.options.Observe.Logger
	config.Proxy, config.Named = hostconfig.ProxyOf(s.loaded), hostconfig.NamedHosts(s.loaded)
	t, err := otlp.Open(config)
	if err != nil {
		s.options.Observe.Logger.Warn("no telemetry is sent", "error", err)
		return nil
	}
	return t
}

// telemetryConfig says where telemetry goes, and false where nowhere. Settings have
// their way before the environment, which can only switch off what no policy wants.
func (s *setup) telemetryConfig(getenv func(string) string) (otlp.Config, bool, error) {
	t := &s.loaded.Telemetry
	if !t.Endpoint.Set {
		config, asked, err := otlp.FromEnv(getenv)
		config.Content = t.Content.Value
		return config, asked, err
	}
	disabled := strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true")
	if disabled && t.Endpoint.Source.Kind != permissions.SourcePolicy {
		return otlp.Config{}, false, nil
	}
	headers := make(map[string]string, len(t.Headers.Value))
	for name, variable := range t.Headers.Value {
		if headers[name] = getenv(variable); headers[name] == "" {
			return otlp.Config{}, true, fmt.Errorf("the variable %s, for the header %s, is empty (%s)", variable, name, t.Headers.Source)
		}
	}
	config := otlp.To(t.Endpoint.Value, headers)
	config.Content = t.Content.Value
	return config, true, nil
}

// parentSpan puts the turns of this process below the span of the program that started
// it, which says so in the variables TRACEPARENT and TRACESTATE.
func parentSpan(ctx context.Context, getenv func(string) string) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{
		"traceparent": getenv("TRACEPARENT"), "tracestate": getenv("TRACESTATE"),
	})
}

// flush lets telemetry leave, in a time of its own.
func flush(ctx context.Context, t *otlp.Telemetry) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	if err := t.Shutdown(ctx); err != nil {
		return fmt.Errorf("some telemetry was not sent: %w", err)
	}
	return nil
}
