package worker_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
	"github.com/toolquay/toolquay/plugins/worker"
)

// BenchmarkCall compares a call in a worker with one in the host's process.
func BenchmarkCall(b *testing.B) {
	run := func(name string, r plugins.Runner) {
		b.Cleanup(func() {
			if err := r.Close(context.Background()); err != nil {
				b.Error(err)
			}
		})
		for _, guest := range []string{"ok", "pass_through"} {
			b.Run(guest+"/"+name, func(b *testing.B) {
				in, err := r.Load(b.Context(), moduleOf(fixture(b, guest)))
				if err != nil {
					b.Fatal(err)
				}
				defer in.Close(context.Background())
				inv := invocation(`{}`)
				inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
					return abi.Answer{OK: struct{}{}, Body: io.NopCloser(strings.NewReader("hello")), Size: 5}, nil
				}
				for b.Loop() {
					if _, err := in.Call(b.Context(), inv); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	run("in process", direct.New(direct.Options{}))
	run("in a worker", worker.New(abi.ABIDirect, options(b)))
}

// BenchmarkStart starts a worker, and has it compile a small module.
func BenchmarkStart(b *testing.B) {
	o := options(b)
	o.CacheDir = ""
	b.Run("plugin", func(b *testing.B) {
		m := moduleOf(fixture(b, "ok"))
		for b.Loop() {
			in, err := worker.New(abi.ABIDirect, o).Load(b.Context(), m)
			if err == nil {
				err = in.Close(b.Context())
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("nothing", func(b *testing.B) {
		m := moduleOf(nil)
		for b.Loop() {
			in, err := worker.New(abiProbe, o).Load(b.Context(), m)
			if err == nil {
				err = in.Close(b.Context())
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkBody passes 64 MiB to a guest that does not look at them.
func BenchmarkBody(b *testing.B) {
	in := load(b, options(b), abiProbe, moduleOf(nil))
	const size = 64 << 20
	b.SetBytes(size)
	inv := probing("drain")
	inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
		return abi.Answer{OK: struct{}{}, Body: io.NopCloser(io.LimitReader(zeros{}, size)), Size: size}, nil
	}
	for b.Loop() {
		if _, err := in.Call(b.Context(), inv); err != nil {
			b.Fatal(err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// BenchmarkCrossing is a call of nothing: what is left is the way there and back.
func BenchmarkCrossing(b *testing.B) {
	in := load(b, options(b), abiProbe, moduleOf(nil))
	inv := probing("nothing")
	for b.Loop() {
		if _, err := in.Call(b.Context(), inv); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSpill passes 200 MB from a capability on to where long texts go.
func BenchmarkSpill(b *testing.B) {
	suite := runnertest.Direct("../direct/testdata")
	suite.New = func(tb testing.TB) plugins.Runner { tb.Helper(); return worker.New(abi.ABIDirect, options(tb)) }
	runnertest.BenchmarkSpill(b, suite)
}
