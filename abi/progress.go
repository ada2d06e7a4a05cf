package abi

import "unicode/utf8"

const (
	// MaxOutput bounds the output that one progress report passes on, in bytes. Of
	// what is longer the end is kept, because that is what people look at; a call
	// with more to show reports it in pieces.
	MaxOutput = 64 << 10
	// MaxReportText bounds the message of a progress report and of a log line, in
	// bytes.
	MaxReportText = 64 << 10
	// MaxReport bounds the message that progress takes, in bytes: there is room for
	// MaxOutput with every byte of it escaped.
	MaxReport = 448 << 10
)

// EncodeProgress appends the message that progress takes.
func EncodeProgress(dst []byte, p ProgressHead) ([]byte, error) { return encodeHead(dst, p) }

// DecodeProgress reads the message that progress takes: progress, a line for
// the log, or both. Output over [MaxOutput] is cut at its front; texts over
// [MaxReportText] are [CodeProtocol].
func DecodeProgress(b []byte) (ProgressHead, error) {
	var p ProgressHead
	if _, err := decodeHead(b, "progress", &p); err != nil {
		return ProgressHead{}, err
	}
	if p.Progress == nil && p.Log == nil {
		return ProgressHead{}, Errorf(CodeProtocol, "progress holds neither progress nor a log line")
	}
	if p.Log != nil {
		switch p.Log.Level {
		case "debug", "info", "warn", "error":
		default:
			return ProgressHead{}, Errorf(CodeProtocol, "log line of level %q; write debug, info, warn or error", p.Log.Level)
		}
		if n := len(p.Log.Message); n > MaxReportText {
			return ProgressHead{}, Errorf(CodeProtocol, "log line of %d bytes is over the limit of %d", n, MaxReportText)
		}
	}
	if p.Progress != nil {
		if n := len(p.Progress.Message); n > MaxReportText {
			return ProgressHead{}, Errorf(CodeProtocol, "progress message of %d bytes is over the limit of %d", n, MaxReportText)
		}
		p.Progress.Output = LastOutput(p.Progress.Output)
	}
	return p, nil
}

// LastOutput returns the end of what a call has put out, at most [MaxOutput] bytes
// of it, from a code point's beginning on.
func LastOutput(output string) string {
	if len(output) <= MaxOutput {
		return output
	}
	output = output[len(output)-MaxOutput:]
	for range utf8.UTFMax - 1 {
		if utf8.RuneStart(output[0]) {
			break
		}
		output = output[1:]
	}
	return output
}
