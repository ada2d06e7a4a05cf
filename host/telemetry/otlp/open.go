package otlp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"maps"
	"net/url"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/telemetry"
)

// DefaultTimeout is how long one request may take, with its repetitions.
const DefaultTimeout = 10 * time.Second

// DefaultService is the name of the service that things are told of.
const DefaultService = "toolquay"

// Config says what is sent where.
type Config struct {
	// Traces and Metrics are the places for each. What has no URL is not sent, and one
	// of them must have one.
	Traces, Metrics Target
	// Proxy is the proxy of HTTP that receivers are reached through, also those with
	// http, by CONNECT; nil is none. It has scheme, host and port only.
	Proxy *url.URL
	// Named reports whether a receiver may be on this machine or a private network though
	// the spelling of its URL does not say so; nil is no.
	Named func(host string) bool

	// Service and Version name what is told of; empty is DefaultService, and no
	// version.
	Service, Version string
	// Logger takes what goes wrong with sending; nil discards it.
	Logger *slog.Logger
	// Options are the observer's.
	telemetry.Options
}

// Target is a place that one kind of telemetry is sent to.
type Target struct {
	// URL is the whole URL, such as http://localhost:4318/v1/traces. Secrets belong into
	// headers: a user or a query in it is an error.
	URL string
	// Headers go with each request.
	Headers map[string]string
	// Timeout bounds a request with its repetitions; 0 is DefaultTimeout.
	Timeout time.Duration
	// Gzip compresses requests.
	Gzip bool
	// TLS is for a receiver with https; nil trusts whom the system trusts.
	TLS *tls.Config
}

// check says what is wrong with a target. It may hold a secret, and is not repeated.
func (t *Target) check() error {
	u, err := url.Parse(t.URL)
	switch {
	case t.URL == "":
		return nil
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("the endpoint of telemetry is no URL such as http://localhost:4318")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("the endpoint of telemetry has a user, a query or a fragment; write scheme, host and path only, and secrets into headers")
	}
	return nil
}

// To is the configuration for a receiver of everything, with the headers it wants.
func To(endpoint string, headers map[string]string) Config {
	base := strings.TrimRight(endpoint, "/")
	return Config{
		Traces:  Target{URL: base + "/v1/traces", Headers: headers},
		Metrics: Target{URL: base + "/v1/metrics", Headers: maps.Clone(headers)},
	}
}

// Telemetry observes a host and sends what it tells.
type Telemetry struct {
	observer *telemetry.Observer
	// traces and metrics end sending, nil what is not sent. The SDK's own types here would
	// be compiled once more with each package that has a Telemetry.
	traces, metrics func(context.Context) error
	senders         []*sender
	once            sync.Once
	err             error
}

// Open starts sending. It connects to nobody yet: a receiver that is not there is no
// error.
func Open(c Config) (*Telemetry, error) {
	if c.Traces.URL == "" && c.Metrics.URL == "" {
		return nil, errors.New("telemetry has no endpoint to send to")
	}
	if err := errors.Join(c.Traces.check(), c.Metrics.check()); err != nil {
		return nil, err
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	t := &Telemetry{}
	tracers, meters := t.start(&c)
	var err error
	if t.observer, err = telemetry.New(tracers, meters, c.Options); err != nil {
		return nil, errors.Join(err, t.Shutdown(context.Background()))
	}
	return t, nil
}

// start makes the providers of what is sent, nil of what is not.
func (t *Telemetry) start(c *Config) (tracers trace.TracerProvider, meters metric.MeterProvider) {
	about := c.resource()
	if c.Traces.URL != "" {
		s := newSender("traces", &c.Traces, c)
		provider := sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithBatcher(spanExporter{s}))
		tracers, t.traces = provider, provider.Shutdown
		t.senders = append(t.senders, s)
	}
	if c.Metrics.URL != "" {
		s := newSender("metrics", &c.Metrics, c)
		provider := sdkmetric.NewMeterProvider(sdkmetric.WithResource(about), sdkmetric.WithReader(sdkmetric.NewPeriodicReader(newMetricExporter(s))))
		meters, t.metrics = provider, provider.Shutdown
		t.senders = append(t.senders, s)
	}
	return tracers, meters
}

// resource is what is told of: this program, by the configuration and then by the
// standard variables.
func (c *Config) resource() *resource.Resource {
	about := resource.Default()
	// Neither has a schema, so that they can be merged.
	if own, err := resource.Merge(resource.NewSchemaless(c.attributes()...), resource.Environment()); err == nil {
		if all, err := resource.Merge(about, own); err == nil {
			about = all
		}
	}
	return about
}

func (c *Config) attributes() []attribute.KeyValue {
	attrs := []attribute.KeyValue{attribute.String("service.name", cmp.Or(c.Service, DefaultService))}
	if c.Version != "" {
		attrs = append(attrs, attribute.String("service.version", c.Version))
	}
	return attrs
}

// Observe takes one event, for [host.Options].Observe.Events.
func (t *Telemetry) Observe(e host.Event) { t.observer.Observe(e) }

// Shutdown sends what is left, but no longer than until ctx is done, and ends sending.
// What is observed after it is lost. The error is that of ctx where it was done first;
// that a receiver did not take something is for the log.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	t.once.Do(func() { t.err = t.shutdown(ctx) })
	return t.err
}

func (t *Telemetry) shutdown(ctx context.Context) error {
	if t.observer != nil {
		t.observer.Close() //nolint:contextcheck // measurements have none
	}
	// Side by side: the one must not use up the time of the other.
	var wait sync.WaitGroup
	var errs [2]error
	if t.traces != nil {
		wait.Go(func() { errs[0] = t.traces(ctx) })
	}
	if t.metrics != nil {
		wait.Go(func() { errs[1] = t.metrics(ctx) })
	}
	wait.Wait()
	for _, s := range t.senders {
		s.end()
		s.http.CloseIdleConnections()
	}
	return errors.Join(errs[:]...)
}
