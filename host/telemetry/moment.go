package telemetry

import (
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolquay/toolquay/host"
)

// moment puts an event into a span.
func (o *Observer) moment(span trace.Span, e *host.Event) {
	if !span.IsRecording() {
		return
	}
	attrs := about(e)
	if o.options.Content {
		attrs = append(attrs, content(e)...)
	}
	span.AddEvent(string(e.Kind), trace.WithTimestamp(e.Time), trace.WithAttributes(attrs...))
}

// about is what an event says beside content.
func about(e *host.Event) []attribute.KeyValue {
	var attrs []attribute.KeyValue
	if e.Capability != "" {
		attrs = append(attrs, keyCapability.String(e.Capability))
	}
	if d := e.Decision; d != nil {
		attrs = append(attrs, keyVerdict.String(d.Verdict.String()), keyLayer.String(string(d.Layer)), keyHeadless.Bool(d.Headless))
	}
	if h := e.Hook; h != nil {
		attrs = append(attrs, keyHookEvent.String(string(h.Event)), keyVerdict.String(h.Verdict.String()), keyHookTook.Float64(h.Took.Seconds()))
		if h.Err != nil {
			attrs = append(attrs, keyErrorType.String("hook_failed"))
		}
	}
	if s := e.Stored; s != nil {
		attrs = append(attrs, keyChars.Int64(s.Chars), keyBytes.Int64(s.Bytes))
	}
	if p := e.Progress; p != nil {
		attrs = append(attrs, keyLines.Int64(p.Lines), keyOutput.Int64(p.Bytes), keyDone.Float64(p.Done), keyTotal.Float64(p.Total))
	}
	if e.Change != nil {
		attrs = append(attrs, keyChange.String(string(e.Change.Kind)))
	}
	if e.Err != nil {
		attrs = append(attrs, keyErrorType.String(errorCode(e.Err)))
	}
	if e.Kind == host.EventDiscarded {
		attrs = append(attrs, keyEffects.Int(len(e.Effects)))
	}
	return attrs
}

// content is what an event says that may quote what the call was given.
func content(e *host.Event) []attribute.KeyValue {
	var attrs []attribute.KeyValue
	if e.Reason != "" {
		attrs = append(attrs, keyReason.String(clip(e.Reason)))
	}
	if e.Progress != nil && e.Progress.Message != "" {
		attrs = append(attrs, keyMessage.String(clip(e.Progress.Message)))
	}
	if e.Kind == host.EventRewritten {
		attrs = append(attrs, keyArguments.String(clip(string(e.Input))))
	}
	return attrs
}

// clip bounds a text that is recorded, and makes it the UTF-8 that it must be.
func clip(text string) string {
	if len(text) <= maxContent {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	cut := maxContent
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strings.ToValidUTF8(text[:cut], "\uFFFD") + "..."
}
