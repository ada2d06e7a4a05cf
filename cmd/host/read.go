package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
)

// read reads a file, or standard input for "-", of at most limit bytes. A
// signal ends the wait for a pipe or a person; the reading itself cannot be
// interrupted and ends with the process.
func (a *app) read(ctx context.Context, file string, limit int64) ([]byte, error) {
	if file == "-" && ui.IsTerminal(a.in) {
		a.err.Printf("Reading from the terminal; Ctrl-D ends the input.\n")
	}
	var src []byte
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		src, err = a.readAll(file, limit)
	}()
	select {
	case <-done:
		return src, err
	case <-ctx.Done():
		return nil, quiet(max(signalCode(ctx), exitFailed))
	}
}

func (a *app) readAll(file string, limit int64) ([]byte, error) {
	in := a.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, usageError("%w", err)
		}
		defer f.Close()
		in = f
	}
	src, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, &exitError{exitUsage, fmt.Errorf("reading %s: %w", file, err)}
	}
	if int64(len(src)) > limit {
		return nil, usageError("%s is over the limit of %s", file, abi.Size(limit))
	}
	return src, nil
}
