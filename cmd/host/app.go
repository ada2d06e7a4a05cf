package main

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/cmd/host/internal/ui"
)

// app is what every subcommand has: the three streams and the flags that all
// of them take.
type app struct {
	in       *os.File
	out, err *ui.Printer
	signals  *signals
	// unattended says that nobody is asked at the terminal, though there may be one.
	unattended bool
	// sitting is who is asked at the terminal; nil where nobody is.
	sitting *ui.Asker
	flags   globalFlags
}

// logger logs to standard error. The handler quotes what does not print.
func (a *app) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.flags.logLevel)); err != nil {
		return nil, usageError("--log-level %q: write debug, info, warn or error", a.flags.logLevel)
	}
	return slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level, ReplaceAttr: withoutTime})), nil
}

func withoutTime(groups []string, attr slog.Attr) slog.Attr {
	if len(groups) == 0 && attr.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return attr
}

// help is what a command does that only has subcommands. Without it a misspelt
// subcommand would be taken for an argument and pass in silence.
func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }
