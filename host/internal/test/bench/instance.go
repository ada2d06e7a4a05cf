package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// instanceRows say what clean memory costs: the same calls in one instance that
// is never put back.
func instanceRows() []row {
	return fine([]row{
		{
			name: "memory put back for the Read tool, in Rust", ours: rustCall(abi.InstanceReset),
			baseline: "in one kept instance", theirs: rustCall(abi.InstanceKept),
			compare: difference, limit: "at most +3 µs",
		},
		{
			name: "the default for it, which may put back", ours: rustCall(abi.InstanceFresh),
			baseline: "in one kept instance", theirs: rustCall(abi.InstanceKept),
			compare: difference, limit: "at most +3 µs",
		},
		{
			name: "memory put back for a tool in standard Go", ours: goCall(abi.InstanceReset),
			baseline: "in one kept instance", theirs: goCall(abi.InstanceKept),
			compare: difference, limit: "at most +130 µs",
		},
		{
			name: "the default for it, which makes instances anew", ours: goCall(abi.InstanceFresh),
			baseline: "in one kept instance", theirs: goCall(abi.InstanceKept),
			compare: difference, limit: "for the picture",
		},
	})
}

// rustCall calls the built-in Read below the host, with a file of 4 KiB in
// memory.
func rustCall(mode abi.InstanceMode) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		wasm, err := readModule()
		if err != nil {
			b.Fatal(err)
		}
		ok := abi.ReadOK{Path: "/f", Size: kib4, Lines: &abi.LinesOK{First: 1, Count: 256, Total: 256}}
		l.callOver(b, wasm, mode, plugins.Invocation{
			Tool: &abi.Tool{Name: "Read"}, Input: json.RawMessage(`{"file_path":"/f"}`),
			Capability: func(context.Context, abi.Request) (abi.Answer, error) {
				return abi.Answer{OK: ok, Body: io.NopCloser(bytes.NewReader(content[:kib4])), BodyType: abi.PartText, Size: kib4}, nil
			},
		})
	}
}

const markdown = "# One\n\ntext\n\n## Two\n\nmore text\n"

// goCall calls the example plugin outline-go in the same way.
func goCall(mode abi.InstanceMode) func(*testing.B, *lab) {
	return func(b *testing.B, l *lab) {
		wasm, err := l.goPlugin()
		if err != nil {
			b.Fatal(err)
		}
		l.callOver(b, wasm, mode, plugins.Invocation{
			Tool: &abi.Tool{Name: "Outline"}, Input: json.RawMessage(`{"file_path":"/f"}`),
			Capability: func(context.Context, abi.Request) (abi.Answer, error) {
				size := int64(len(markdown))
				return abi.Answer{OK: abi.ReadOK{Path: "/f", Size: size}, Body: io.NopCloser(strings.NewReader(markdown)), Size: size}, nil
			},
		})
	}
}

// goPlugin is a plugin in standard Go, built once.
func (l *lab) goPlugin() ([]byte, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	return goBuild(filepath.Join(l.dir, "outline-go.wasm"), filepath.Join(root, "plugin-examples", "outline-go"), ".")
}

// callOver loads a module and makes the same call to it over and over. Calls
// come one after the other, so that what is done between them counts.
func (l *lab) callOver(b *testing.B, wasm []byte, mode abi.InstanceMode, inv plugins.Invocation) {
	b.Helper()
	ctx := context.Background()
	in, err := l.load(wasm, &abi.Manifest{Name: "bench", Instance: mode})
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close(ctx)
	var kept plugins.Session
	defer kept.Close(ctx)
	inv.ID, inv.Session = "toolu_1", &kept
	call := func() {
		result, err := in.Call(ctx, inv)
		if err != nil || result.IsError {
			b.Fatal(result.Text(), err)
		}
	}
	for range beforehand {
		call()
	}
	for b.Loop() {
		call()
	}
}

// beforehand is how many calls are made before any is measured. The first ones
// have instances made, their memory noted and looked at, and every page of it
// found by the system: milliseconds, which in a run of 100 ms would be told as
// what a call costs.
const beforehand = 16

// moduleRoot is the repository, in which the benchmarks must be run.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	return strings.TrimSpace(string(out)), err
}

// goBuild builds a guest with standard Go, where that was not done before.
func goBuild(to, dir, pkg string) ([]byte, error) {
	if wasm, err := os.ReadFile(to); err == nil {
		return wasm, nil
	}
	build := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", to, pkg)
	build.Dir = dir
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	return os.ReadFile(to)
}
