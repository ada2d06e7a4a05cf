// Package documents runs the built-in plugin behind the capability docs.read. Models are
// not told of its tool, and it is no plugin of a host's set.
package documents

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/builtin"
	"github.com/toolquay/toolquay/host/internal/capability/docs"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
)

// toolName is the tool of the built-in plugin that shows documents.
const toolName = "document"

// ErrClosed is returned for documents that are read after [Viewer.Close].
var ErrClosed = errors.New("the plugin that shows documents is closed")

// Options configure a [Viewer].
type Options struct {
	// PassPDF says that models take PDF as it is; see [docs.Options].
	PassPDF bool
	// CacheDir keeps the compiled plugin between processes; empty keeps nothing.
	CacheDir string
	// Compiler compiles the plugin; nil compiles it in this process.
	Compiler plugins.Compiler
	// Logger takes what is worth an operator's notice. It is required.
	Logger *slog.Logger
}

// Viewer shows documents. It opens the plugin when the first document is read, and is safe
// for concurrent use.
type Viewer struct {
	options Options

	mu     sync.Mutex
	closed bool
	set    *plugins.Set // nil until it is needed
}

// New returns a viewer, which is to be closed.
func New(o Options) *Viewer { return &Viewer{options: o} }

// Capability answers docs.read.
func (v *Viewer) Capability() *docs.Capability {
	return docs.New(docs.Options{Run: v.run, Documents: v.options.PassPDF})
}

// open opens the plugin, the first time.
func (v *Viewer) open(ctx context.Context) (*plugins.Set, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.closed:
		return nil, ErrClosed
	case v.set != nil:
		return v.set, nil
	}
	runner := direct.New(direct.Options{
		CacheDir: v.options.CacheDir, Compiler: v.options.Compiler, Logger: v.options.Logger,
	})
	set, err := plugins.Open(plugins.Options{
		Sources:      []plugins.Source{{Origin: plugins.OriginBuiltin, Path: "builtin", FS: builtin.Documents()}},
		Runners:      []plugins.Runner{runner},
		Capabilities: []string{abi.CapFSRead},
		Logger:       v.options.Logger,
	})
	if err != nil {
		return nil, errors.Join(err, runner.Close(ctx))
	}
	v.set = set
	return set, nil
}

// run shows one document, in an instance of its own.
func (v *Viewer) run(ctx context.Context, doc docs.Document) (abi.ToolResult, error) {
	set, err := v.open(ctx)
	if err != nil {
		return abi.ToolResult{}, err
	}
	shower, ok := set.Tool(toolName)
	if !ok {
		return abi.ToolResult{}, abi.Errorf(abi.CodeInternal, "the plugin that shows documents is not there")
	}
	input, err := json.Marshal(struct {
		Pages string `json:"pages,omitempty"`
		Path  string `json:"path"`
	}{doc.Pages, doc.Name})
	if err != nil {
		return abi.ToolResult{}, err
	}
	return shower.Call(ctx, plugins.Invocation{
		ID:         toolName,
		Input:      input,
		Cwd:        "/",
		Capability: onlyFile(doc),
		Report:     func(abi.ProgressHead) {},
	})
}

// onlyFile answers reads of one file by ranges of bytes, and nothing else.
func onlyFile(doc docs.Document) func(context.Context, abi.Request) (abi.Answer, error) {
	return func(_ context.Context, req abi.Request) (abi.Answer, error) {
		var args abi.ReadArgs
		if err := json.Unmarshal(req.Args, &args); err != nil {
			return abi.Answer{}, abi.Errorf(abi.CodeInvalidInput, "the arguments of %s: %w", req.Name, err)
		}
		if req.Name != abi.CapFSRead || args.Path != doc.Name || args.Lines != nil || args.Offset < 0 || args.Length < 0 {
			return abi.Answer{}, abi.Errorf(abi.CodeUndeclared, "what shows a document may read its bytes and nothing else")
		}
		rest := doc.Content[min(args.Offset, int64(len(doc.Content))):]
		if args.Length > 0 {
			rest = rest[:min(args.Length, int64(len(rest)))]
		}
		return abi.Answer{
			OK:       abi.ReadOK{Path: doc.Name, Size: int64(len(doc.Content))},
			Body:     abi.Bytes(rest),
			BodyType: abi.PartBytes,
			Size:     int64(len(rest)),
		}, nil
	}
}

// Close frees the plugin, if it was opened. No document can be read after it.
func (v *Viewer) Close(ctx context.Context) error {
	v.mu.Lock()
	set := v.set
	v.closed = true
	v.mu.Unlock()
	if set == nil {
		return nil
	}
	return set.Close(ctx)
}
