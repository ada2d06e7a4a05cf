package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// Main makes a worker of the process where it was started as one; then it does
// not return. Otherwise it does nothing. Call it first thing in main, before
// flags are read or anything is started. In a worker, plugins of the direct ABI
// can be run, and those of the runners given here.
func Main(runners ...plugins.RunnerFunc) {
	mainCalled.Store(true)
	if !isWorker() {
		return
	}
	if err := serve(append([]plugins.RunnerFunc{directRunner}, runners...)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func directRunner(o plugins.RunnerOptions) plugins.Runner {
	return direct.New(direct.Options{CacheDir: o.CacheDir, Ahead: o.Ahead, Logger: o.Logger})
}

// serve is the whole life of a child.
func serve(runners []plugins.RunnerFunc) error {
	closeInherited()
	in, out, err := pipes()
	if err != nil {
		return err
	}
	os.Stdout = os.Stderr // a library that prints must not break the protocol
	w := &writer{file: out}
	messages := newReader(in, fromHost)
	h, payload, err := messages.next()
	if err != nil || h.kind != kindSetup {
		return errors.New("a worker is started by its host, which says what to do")
	}
	s, wasm, err := decodeSetup(payload)
	if err != nil {
		return err
	}
	if err := s.Limits.apply(); err != nil {
		return err
	}
	if err := fence(s.files()); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return w.send(failed(0, s.unconfined(err)))
	}
	unfiltered := confine(stageLoading)
	if s.Compile != nil {
		return w.send(compileFor(s.Compile, wasm, unfiltered))
	}
	if unfiltered != nil && filterKnown {
		return w.send(failed(0, s.unconfined(unfiltered)))
	}
	return runPlugin(s, wasm, runners, unfiltered, messages, w)
}

// fromHost bounds nothing that the host is known to send.
func fromHost(k kind) int {
	if k < kindSetup || k > kindSpilled {
		return -1
	}
	return 1<<31 - 1
}

// compileFor compiles a module and returns the message that says what came of
// it.
func compileFor(s *compileSetup, wasm []byte, unfiltered error) []byte {
	if err := engine.CompileInto(context.Background(), s.Dir, wasm); err != nil {
		return failed(0, err)
	}
	return ready(unfiltered)
}

// ready is the message of a child that is, and of why it has no system call
// filter, nil where it has.
func ready(unfiltered error) []byte {
	message := newMessage(kindReady, 0, 0, 128)
	if unfiltered != nil {
		message = append(message, unfiltered.Error()...)
	}
	return message
}

// runPlugin loads a plugin and serves calls to it until the host is gone.
func runPlugin(s *setup, wasm []byte, runners []plugins.RunnerFunc, unfiltered error, in *reader, out *writer) error {
	log := slog.New(&logHandler{out: out})
	o := plugins.RunnerOptions{CacheDir: s.Load.CacheDir, Ahead: s.Load.Ahead, Logger: log}
	instance, err := loadPlugin(s.Load, wasm, runners, o)
	if err != nil {
		return out.send(failed(0, err))
	}
	if filterKnown {
		if err := confine(stageRunning); err != nil {
			return out.send(failed(0, s.unconfined(err)))
		}
	}
	if err := out.send(ready(unfiltered)); err != nil {
		return err
	}
	server := newServer(instance, s.Load, out)
	return server.run(in)
}

func loadPlugin(s *loadSetup, wasm []byte, runners []plugins.RunnerFunc, o plugins.RunnerOptions) (plugins.Instance, error) {
	for _, make := range runners {
		runner := make(o)
		if runner.ABI() != s.ABI {
			continue
		}
		return runner.Load(context.Background(), plugins.Module{
			Manifest: &s.Manifest.Manifest,
			Hash:     s.Hash,
			Wasm:     wasm,
			Trusted:  true, // this is the process that it is compiled in
			Limits:   s.Manifest.Limits,
			Logger:   o.Logger,
		})
	}
	return nil, abi.Errorf(abi.CodeUnsupported, "the program that workers are run with has no runner for the ABI %q", s.ABI)
}
