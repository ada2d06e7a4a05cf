package mcp

import (
	"context"
	"log/slog"
)

// quiet takes what the SDK logs as an error for what it is to an operator: a client's mistake, or
// the end of a connection. What is an error here is logged by ourselves.
type quiet struct{ slog.Handler }

func quieter(l *slog.Logger) *slog.Logger { return slog.New(quiet{l.Handler()}) }

// Enabled is as [slog.Handler] has it.
func (q quiet) Enabled(ctx context.Context, _ slog.Level) bool {
	return q.Handler.Enabled(ctx, slog.LevelDebug)
}

// Handle is as [slog.Handler] has it.
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	r.Level = slog.LevelDebug
	return q.Handler.Handle(ctx, r)
}

// WithAttrs is as [slog.Handler] has it.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }

// WithGroup is as [slog.Handler] has it.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }
