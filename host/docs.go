package host

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/builtin"
	"github.com/toolquay/toolquay/host/internal/capability/docs"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
)

// documentTool is the tool of the built-in plugin that shows documents.
const documentTool = "document"

// documents runs the plugin behind docs.read. It is no plugin of the host's set:
// models are not told of its tool, and it is opened when the first document is read.
type documents struct {
	options *Options

	mu     sync.Mutex
	closed bool
	set    *plugins.Set // nil until it is needed
}

// capability answers docs.read.
func (d *documents) capability() *docs.Capability {
	return docs.New(docs.Options{Run: d.run, Documents: d.options.Documents})
}

// open opens the plugin, the first time.
func (d *documents) open(ctx context.Context) (*plugins.Set, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return nil, ErrClosed
	case d.set != nil:
		return d.set, nil
	}
	runner := direct.New(direct.Options{
		CacheDir: d.options.CacheDir, Compiler: d.options.Compiler, Logger: d.options.Logger,
	})
	set, err := plugins.Open(plugins.Options{
		Sources:      []plugins.Source{{Origin: plugins.OriginBuiltin, Path: "builtin", FS: builtin.Documents()}},
		Runners:      []plugins.Runner{runner},
		Capabilities: []string{abi.CapFSRead},
		Logger:       d.options.Logger,
	})
	if err != nil {
		return nil, errors.Join(err, runner.Close(ctx))
	}
	d.set = set
	return set, nil
}

// run shows one document, in an instance of its own.
func (d *documents) run(ctx context.Context, doc docs.Document) (abi.ToolResult, error) {
	set, err := d.open(ctx)
	if err != nil {
		return abi.ToolResult{}, err
	}
	shower, ok := set.Tool(documentTool)
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
		ID:         documentTool,
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

// close frees the plugin, if it was ever opened.
func (d *documents) close(ctx context.Context) error {
	d.mu.Lock()
	set := d.set
	d.closed = true
	d.mu.Unlock()
	if set == nil {
		return nil
	}
	return set.Close(ctx)
}
