// Command server is what a program looks like that serves a host of its own over the Model
// Context Protocol, with everything that the protocol's conformance suite asks for. Its tools
// are a Wasm plugin; what Toolquay does not have, such as prompts, are additions of its own.
//
//	server PLUGIN-DIRECTORY
//
// It prints its URL when it listens.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/mcp"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: server PLUGIN-DIRECTORY")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1])
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, plugin string) error {
	e := &embedder{lists: make(map[*sdk.Server]struct{})}
	h, err := host.Open(ctx, host.Options{
		Plugins:      host.PluginOptions{Sources: []plugins.Source{{Origin: plugins.OriginFlag, Path: plugin, FS: os.DirFS(plugin)}}, Granted: []string{"everything"}},
		Capabilities: []capability.Capability{e},
		// The suite leaves calls behind that wait for input.
		Limits:  host.LimitOptions{MaxConcurrent: 200},
		Observe: host.ObserveOptions{Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))},
	})
	if err != nil {
		return err
	}
	defer h.Close(context.WithoutCancel(ctx))
	if err := warm(ctx, h); err != nil {
		return err
	}
	e.server = mcp.New(mcp.Options{
		Info: &sdk.Implementation{Name: "everything", Version: "0.1.0"},
		Open: func(_ context.Context, c mcp.Client) (*host.Session, error) {
			return h.NewSession(host.SessionOptions{Cwd: os.TempDir(), Mode: permissions.ModeBypass, Asker: c.Asker})
		},
		Configure: configure,
		Extend:    e.extend,
		Tasks:     mcp.TaskOptions{After: 300 * time.Millisecond, Use: taskUse},
	})
	defer e.server.Close(context.WithoutCancel(ctx))
	return e.serve(ctx)
}

// warm makes a first call, for which the plugin is compiled: the suite does not wait for that.
func warm(ctx context.Context, h *host.Host) error {
	s, err := h.NewSession(host.SessionOptions{Cwd: os.TempDir()})
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	for _, r := range s.Results(ctx, []abi.ToolUse{{ID: "warm", Name: "test_simple_text", Input: []byte("{}")}}) {
		if r.IsError {
			return errors.New(r.Text())
		}
	}
	return nil
}

// taskUse says which tools work for long.
func taskUse(tool string) mcp.TaskUse {
	switch tool {
	case "slow_compute", "protocol_error_job", "confirm_delete", "multi_input":
		return mcp.TaskAtOnce
	case "failing_job":
		return mcp.TaskRequired
	}
	return mcp.TaskLater
}

// serve serves until ctx ends.
func (e *embedder) serve(ctx context.Context) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := listener.Addr().String()
	fmt.Printf("http://%s/mcp\n", address)
	mux := http.NewServeMux()
	mux.Handle("/mcp", http.StripPrefix("/mcp", e.server.Handler()))
	server := &http.Server{Handler: onlyFor(address, mux), ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil
}

// onlyFor refuses requests for other hosts: those of pages whose name was made to mean this
// machine.
func onlyFor(address string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != address {
			http.Error(w, "this is "+address, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
