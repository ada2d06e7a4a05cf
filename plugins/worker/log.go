package worker

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
)

// logHandler sends a worker's log to the host, up to maxLogged lines.
type logHandler struct {
	out   *writer
	lines atomic.Int32
}

// Enabled keeps to what an operator should notice.
func (*logHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle sends one line.
func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	if h.lines.Add(1) > maxLogged {
		return nil
	}
	var line strings.Builder
	line.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		line.WriteString(", " + a.Key + ": " + a.Value.String())
		return true
	})
	text := line.String()
	b := append(newMessage(kindLog, 0, 0, len(text)+1), byte(int8(min(r.Level, slog.LevelError))))
	return h.out.send(append(b, text[:min(len(text), maxErrorText)]...))
}

// WithAttrs returns the handler itself: what logs here names everything itself.
func (h *logHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup returns the handler itself.
func (h *logHandler) WithGroup(string) slog.Handler { return h }
