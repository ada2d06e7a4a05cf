package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
)

// read reads a file, or standard input for "-", of at most limit bytes. A
// signal ends the wait for a pipe or a person; the reading itself cannot be
// interrupted and ends with the process.
func (a *app) read(ctx context.Context, file string, limit int64) ([]byte, error) {
	var src []byte
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		src, err = readAll(a, file, limit)
	}()
	select {
	case <-done:
		return src, err
	case <-ctx.Done():
		return nil, quiet(max(signalCode(ctx), exitFailed))
	}
}

// openInput opens a file, or standard input for "-". Opening a named pipe may block, as may a
// read of standard input: closing that does nothing.
func openInput(a *app, file string) (io.ReadCloser, error) {
	if file == "-" {
		if ui.IsTerminal(a.in) {
			a.err.Printf("Reading from the terminal; Ctrl-D ends the input.\n")
		}
		return io.NopCloser(a.in), nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, usageError("%w", err)
	}
	return f, nil
}

func readAll(a *app, file string, limit int64) ([]byte, error) {
	in, err := openInput(a, file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	src, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, &exitError{exitUsage, fmt.Errorf("reading %s: %w", file, err)}
	}
	if int64(len(src)) > limit {
		return nil, usageError("%s is over the limit of %s", file, abi.Size(limit))
	}
	return src, nil
}

// input is the input of a call: given, or read from @FILE or, for "-", standard
// input.
func (a *app) input(ctx context.Context, tool, input string) ([]byte, error) {
	src := []byte(input)
	if file, isFile := strings.CutPrefix(input, "@"); isFile || input == "-" {
		var err error
		if src, err = a.read(ctx, file, abi.MaxJSON); err != nil {
			return nil, err
		}
	}
	canonical, err := abi.Canonical(src)
	if err != nil {
		return nil, usageError("the input of %s: %w", tool, err)
	}
	return canonical, nil
}
