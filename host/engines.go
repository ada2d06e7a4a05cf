package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/ambient"
	"github.com/toolquay/toolquay/host/internal/capability/cron"
	"github.com/toolquay/toolquay/host/internal/capability/fs"
	"github.com/toolquay/toolquay/host/internal/capability/lists"
	"github.com/toolquay/toolquay/host/internal/capability/plan"
	"github.com/toolquay/toolquay/host/internal/capability/search"
	"github.com/toolquay/toolquay/host/internal/capability/self"
	"github.com/toolquay/toolquay/host/internal/capability/task"
	"github.com/toolquay/toolquay/host/internal/capability/tools"
	"github.com/toolquay/toolquay/host/internal/documents"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/host/internal/searches"
	"github.com/toolquay/toolquay/host/internal/shell/commands"
	"github.com/toolquay/toolquay/plugins/regexp"
)

// maxLines bounds the text of one fs.read by lines, in code points. A guest may
// have 32 answers unread, and reads longer files in pieces.
const maxLines = 4 << 20

// engines are what capabilities need to run: viewers of documents, commands, expressions.
type engines struct {
	documents   *documents.Viewer
	commands    *commands.Runner
	expressions *regexp.Engine // what search.contents matches with
}

func newEngines(o *Options) engines {
	return engines{
		documents:   documents.New(documents.Options{PassPDF: o.Model.Documents, CacheDir: o.Storage.CacheDir, Compiler: o.Plugins.Compiler, Logger: o.Observe.Logger}),
		commands:    commands.NewRunner(o.commands()),
		expressions: regexp.New(regexp.Options{CacheDir: o.Storage.CacheDir, Logger: o.Observe.Logger}),
	}
}

// close ends all of them. Commands end in a time of their own.
func (e *engines) close(ctx context.Context) error {
	return errors.Join(e.documents.Close(ctx), e.commands.Close(ErrClosed), e.expressions.Close(ctx))
}

// capabilities are those of the host and of the embedder, by name.
func (e *engines) capabilities(o *Options) (map[string]capability.Capability, error) {
	own := []capability.Capability{
		fs.New(fs.Options{MaxChars: maxLines, Time: o.Limits.ScanTimeout}), search.New(search.Options{Engine: e.expressions, Time: o.Limits.ScanTimeout}),
		tools.New(), lists.New(), cron.New(), plan.New(), self.New(), e.documents.Capability(),
		ambient.New(ambient.Options{Clock: o.Plugins.Clock, Random: o.Plugins.Random}),
	}
	if o.Shell != nil {
		own = append(own, e.commands, task.New())
	}
	all := make(map[string]capability.Capability)
	for _, c := range append(own, o.Capabilities...) {
		for _, name := range c.Names() {
			if _, taken := all[name]; taken {
				return nil, fmt.Errorf("two capabilities answer to %q", name)
			}
			all[name] = c
		}
	}
	return all, nil
}

// sharedByCalls is what the calls of all sessions share.
func sharedByCalls(o *Options, e *engines, capabilities map[string]capability.Capability) *pipeline.Host {
	shared := &pipeline.Host{
		Capabilities: capabilities, Commands: e.commands, Shell: o.Shell != nil,
		Past: &searches.Past{}, MaxSearched: searches.MaxNames, Rehearsals: pipeline.NewRehearsals(),
		LogRequired: o.Observe.DecisionsRequired, LogInputs: o.Observe.DecisionInputs, Logger: o.Observe.Logger, CallTimeout: o.Limits.CallTimeout,
	}
	if o.Shell != nil {
		shared.Writable = o.Shell.Sandbox.Writable
	}
	if o.Observe.Decisions != nil {
		shared.Log = o.Observe.Decisions
	}
	return shared
}
