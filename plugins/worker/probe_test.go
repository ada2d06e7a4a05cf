package worker_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/worker"
)

// abiProbe is an ABI of the tests' own: its one plugin does, in the worker, what
// a guest that has broken out would do.
const abiProbe = "probe"

type probe struct{ cacheDir string }

func newProbe(o plugins.RunnerOptions) plugins.Runner { return probe{o.CacheDir} }

func (probe) ABI() string { return abiProbe }

// Load takes as a module the name of something to do first, in the directory of
// compiled code, and fails with what came of it, if anything did.
func (p probe) Load(ctx context.Context, m plugins.Module) (plugins.Instance, error) {
	if act, ok := probes[string(m.Wasm)]; ok {
		if said := act(ctx, plugins.Invocation{Cwd: p.cacheDir}); said != "" {
			return nil, abi.Errorf(abi.CodeLoad, "%s", said)
		}
	}
	return p, nil
}

func (probe) Close(context.Context) error { return nil }

func (probe) Assess(context.Context, plugins.Question) (abi.Assessment, error) {
	return abi.Assessment{}, nil
}

// Call does what the tool is named after.
func (probe) Call(ctx context.Context, inv plugins.Invocation) (abi.ToolResult, error) {
	act, ok := probes[inv.Tool.Name]
	if !ok {
		return abi.ToolResult{}, abi.Errorf(abi.CodeUnknownTool, "there is no probe %q", inv.Tool.Name)
	}
	return abi.ToolResult{Content: []abi.Block{abi.TextBlock(act(ctx, inv))}}, nil
}

// probes are what can be tried. Each returns what came of it.
var probes = map[string]func(context.Context, plugins.Invocation) string{
	"pid": func(context.Context, plugins.Invocation) string { return strconv.Itoa(os.Getpid()) },
	"environment": func(context.Context, plugins.Invocation) string {
		var names []string
		for _, v := range os.Environ() {
			name, _, _ := strings.Cut(v, "=")
			names = append(names, name)
		}
		return strings.Join(names, ",")
	},
	// ask and hang does so once it has been answered.
	"ask and hang": func(ctx context.Context, inv plugins.Invocation) string {
		if _, err := inv.Capability(ctx, abi.Request{Name: "test.echo", Args: []byte(`{}`)}); err != nil {
			return err.Error()
		}
		select {}
	},
	// leave answers with a capability call under way.
	"leave": func(ctx context.Context, inv plugins.Invocation) string {
		go func() {
			_, _ = inv.Capability(context.WithoutCancel(ctx), abi.Request{Name: "test.echo", Args: []byte(`{}`)})
		}()
		_, _ = inv.Capability(ctx, abi.Request{Name: "test.asked", Args: []byte(`{}`)}) // until it has come
		return strconv.Itoa(os.Getpid())
	},
	"hang": func(context.Context, plugins.Invocation) string { select {} },
	"wait": func(ctx context.Context, _ plugins.Invocation) string { <-ctx.Done(); return "" },
	"spin": func(context.Context, plugins.Invocation) string {
		for i := 0; ; i++ {
		}
	},
	"panic": func(context.Context, plugins.Invocation) string { panic("a defect in the runner") },
	"exit":  func(context.Context, plugins.Invocation) string { os.Exit(7); return "" },
	// memory takes more and more of it.
	"memory": func(context.Context, plugins.Invocation) string {
		var held [][]byte
		for {
			b := make([]byte, 16<<20)
			for i := range b {
				b[i] = byte(i)
			}
			held = append(held, b)
			if len(held) > 32 {
				select {} // it is seen at any moment
			}
		}
	},
	"children": func(ctx context.Context, _ plugins.Invocation) string {
		_, err := worker.New(abiProbe, worker.Options{Command: []string{"/bin/true"}}).Load(ctx, moduleOf(nil))
		return fmt.Sprint(err)
	},
	"sleep": func(context.Context, plugins.Invocation) string {
		time.Sleep(50 * time.Millisecond)
		return "slept"
	},
	"nothing": func(context.Context, plugins.Invocation) string { return "" },
	"drain": func(ctx context.Context, inv plugins.Invocation) string {
		a, err := inv.Capability(ctx, abi.Request{Name: "test.echo", Args: []byte(`{}`)})
		if err != nil {
			return err.Error()
		}
		defer a.Close()
		n, err := io.Copy(io.Discard, a.Body)
		return fmt.Sprint(n, err)
	},
	"spill and exit": func(_ context.Context, inv plugins.Invocation) string {
		halfText(inv)
		os.Exit(7)
		return ""
	},
	"spill and panic": func(_ context.Context, inv plugins.Invocation) string {
		halfText(inv)
		panic("a defect in the runner")
	},
	"spill and hang": func(_ context.Context, inv plugins.Invocation) string {
		halfText(inv)
		select {}
	},
	"spill and forget": func(_ context.Context, inv plugins.Invocation) string {
		halfText(inv)
		return "nothing of it is in the result"
	},
	// ask makes a capability call and reads the answer.
	"ask": func(ctx context.Context, inv plugins.Invocation) string {
		a, err := inv.Capability(ctx, abi.Request{Name: "test.echo", Args: []byte(`{}`)})
		if err != nil {
			return err.Error()
		}
		defer a.Close()
		return fmt.Sprintf("%s", a.OK)
	},
}

// halfText begins a text of the result and does not end it. Of its pieces the host
// has taken some when it returns.
func halfText(inv plugins.Invocation) {
	text, err := inv.Spill()
	if err == nil {
		_, err = text.Write(make([]byte, 2<<20))
	}
	if err != nil {
		panic(err)
	}
}

// probing is a call of a probe.
func probing(name string) plugins.Invocation {
	inv := invocation("{}")
	inv.Tool = &abi.Tool{Name: name}
	return inv
}
