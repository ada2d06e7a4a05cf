package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolquay/toolquay/host/internal/judge"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/session"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// SessionOptions configure a [Session].
type SessionOptions struct {
	// ID names the session, in approvals, grants and logs; empty makes one up.
	ID string
	// Caller says who makes the session's calls: which agent ([MainAgent] if empty), of which
	// team. A session that is opened for another agent and whose turns run under the context
	// of a running call takes the chain, the parent and the depth from that call; one whose
	// turns do not says them here. Without either, the chain is the session's ID. Calls more
	// than 8 deep are refused.
	Caller Caller
	// Cwd is the working directory: an existing directory, absolute.
	Cwd string
	// AdditionalDirs are further directories to work in, absolute.
	AdditionalDirs []string
	// Mode is the permission mode. Empty is the one of the rules ([permissions.RuleSet].Mode),
	// and where they name none permissions.ModeDefault.
	Mode permissions.Mode
	// BeforePlan is the mode that a session which begins in the mode plan leaves that for;
	// empty is permissions.ModeDefault.
	BeforePlan permissions.Mode
	// PlanFile is the one file that may be written in the mode plan, absolute. Empty is plan.md
	// in the session's directory, or where it has none, in one for temporary files.
	PlanFile string
	// Asker asks the person, such as an approvals.Func of package host/approvals; nil makes
	// the session headless, as does one that carries no approvals, as long as it does not.
	// Tools that require a person are not offered while no question can be asked.
	Asker Asker
	// Audience is whom the tools are for; some are not for every one. Empty is AudienceMain for
	// the main agent, and [AudienceSubagent] for others.
	Audience Audience
	// Unheard says that nobody shows the person what tools tell them ([EventMessage] with Said),
	// as in a server of MCP, whose clients do not: then SendUserMessage is not offered, and
	// session.message is refused.
	Unheard bool
	// Prompts says that prompts which come by the clock are taken, by [Session.Prompts] or
	// [Session.DuePrompts]. Without, the tools that schedule them are not offered.
	Prompts bool
	// OutputSchema asks for structured output: the tool StructuredOutput is offered, whatever
	// else is, with this JSON Schema of its input, and [Session.Output] is what it was called
	// with last. The root must have the type object, references may only point into the schema,
	// and what checking by it may cost is bounded. Empty asks for none.
	OutputSchema json.RawMessage
	// Stage has what tools write staged, in the session's directory: they see it, and
	// nothing on the disk changes until it is applied (see [Session.Stage]). Tools of
	// the embedder's own that are not read-only are refused, and so is what plugins
	// would change or run by capabilities that know nothing of a stage. A session that
	// has staged files does not start without it ([ErrStaged]).
	Stage bool
	// Ephemeral gives the session no directory, though the host has one for
	// them: what is too large for a model is cut.
	Ephemeral bool
}

// Session is one conversation's state. It is safe for concurrent use; turns run
// one after the other.
type Session struct {
	host    *Host
	options SessionOptions
	id      string
	core    *session.Session
	news    *news
	quiet   listeners // those of turns that nobody listens to
}

// NewSession starts a session.
func (h *Host) NewSession(o SessionOptions) (*Session, error) {
	setup, err := o.places(&h.options).Setup()
	if err != nil {
		return nil, err
	}
	if shell := h.options.Shell; shell != nil {
		setup.Unasked, setup.Contained = shell.Sandbox.Unasked, shell.Sandbox.Contained
	}
	if err := checkCaller(&o.Caller); err != nil {
		return nil, err
	}
	var output *session.Output
	if len(o.OutputSchema) > 0 {
		if output, err = session.NewOutput(o.OutputSchema); err != nil {
			return nil, fmt.Errorf("SessionOptions.OutputSchema: %w", err)
		}
	}
	o.Caller.Agent = cmp.Or(o.Caller.Agent, MainAgent)
	if o.Audience == AudienceMain && o.Caller.Agent != MainAgent {
		o.Audience = AudienceSubagent
	}
	s := &Session{host: h, options: o, id: cmp.Or(o.ID, rand.Text())}
	s.news, s.quiet.of = newNews(h, s), s
	inner := session.Options{Caller: o.Caller, Audience: o.Audience, Storage: s.storageOptions(), Output: output, Unheard: o.Unheard, Prompts: o.Prompts, Resumes: o.ID != ""}
	inner.Headless = func() bool { return !s.carries(QuestionApproval) }
	inner.Carries = func(kinds ...QuestionKind) bool {
		if len(kinds) == 0 {
			kinds = Kinds()
		}
		return s.carries(kinds...)
	}
	if h.options.Permissions.Judge.Model != nil {
		if inner.Judge, err = judge.New(h.options.Permissions.Judge); err != nil {
			return nil, fmt.Errorf("the judge: %w", err)
		}
	}
	if s.core, err = h.sessions.Open(inner, &setup); err != nil {
		return nil, err
	}
	if err := h.admitSession(s, setup); err != nil {
		s.core.Life.End(err)
		return nil, errors.Join(err, s.core.Close())
	}
	if s.Mode() == permissions.ModePlan {
		s.placePlan()
	}
	return s, nil
}

// places are the ones that the policies of a session are about.
func (o *SessionOptions) places(h *Options) *rules.Places {
	return &rules.Places{
		Cwd: o.Cwd, Additional: o.AdditionalDirs, PlanFile: o.PlanFile,
		Home: h.Paths.Home, ProjectRoot: h.Paths.Project, Sessions: h.Storage.Sessions, HostFolders: h.folders(), Skills: h.Skills.folders(),
	}
}

// admitSession compiles a new session's policy, by the settings as they are when
// it becomes one of the host's.
func (h *Host) admitSession(s *Session, setup permissions.Setup) error {
	c := &rules.Compiler{
		Setup: setup, Session: s.id, Mode: s.options.Mode, BeforePlan: s.options.BeforePlan, Moved: s.news.mode, Shaped: s.core.Tools.Contract, Grants: h.options.Permissions.Grants, Logger: h.options.Observe.Logger,
	}
	set := h.plugins.Newest()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return fmt.Errorf("starting a session of a host: %w", ErrClosed)
	}
	by, err := rules.New(c, h.settings, set)
	if err != nil {
		return err
	}
	s.core.Begin(by)
	s.core.Limit() // as it may have changed since the session was opened
	h.open[s] = struct{}{}
	return nil
}

// ID names the session.
func (s *Session) ID() string { return s.id }

// Cwd is the session's working directory now.
func (s *Session) Cwd() string { return s.core.Rules.View().Cwd }

// MaxOutputSchema is the largest [SessionOptions].OutputSchema in bytes.
const MaxOutputSchema = plugins.MaxSchema

// CheckOutputSchema returns why no session would take an OutputSchema, or nil.
func CheckOutputSchema(schema json.RawMessage) error {
	_, err := session.NewOutput(schema)
	return err
}

// Output is the structured output that the session was asked for, as the tool StructuredOutput
// was called with last: canonical JSON that fits [SessionOptions].OutputSchema. It is nil
// before that. The next process that goes on with the session does not have it.
func (s *Session) Output() json.RawMessage {
	if s.core.Tools.Output == nil {
		return nil
	}
	return s.core.Tools.Output.Last()
}

// Policy is what the session's calls are judged by now.
func (s *Session) Policy() *permissions.Policy { return s.core.Rules.Fresh().Policy }

// Mode is the session's permission mode now.
func (s *Session) Mode() permissions.Mode { return s.core.Rules.View().Policy.Mode() }

// SetMode changes the mode, for all that is not decided yet. It fails if the mode is
// unknown or forbidden. Entering plan remembers the mode before it.
func (s *Session) SetMode(m permissions.Mode) error {
	if m == permissions.ModePlan {
		s.placePlan()
	}
	return s.core.Rules.SetMode(m)
}

// placePlan makes the place that the plan is written to. Without, the mode is what it is.
func (s *Session) placePlan() {
	if _, err := s.core.Calls.PlacePlan(); err != nil {
		s.host.options.Observe.Logger.Warn("there is no place for a plan file", "session", s.id, "error", err)
	}
}

// LeavePlan returns to the mode that plan was entered from, or if that is forbidden by now
// or the session began in plan, to the default one. It fails if the mode is not plan.
func (s *Session) LeavePlan() error { return s.core.Rules.LeavePlan() }

// LimitPlans has plans of the session be accepted into no looser mode than this one, whatever
// its person says. Without it, a policy alone limits that.
func (s *Session) LimitPlans(loosest permissions.Mode) { s.core.Rules.LimitPlans(loosest) }

// Close cancels the turn that runs, waits for it to end, or for ctx, ends what runs in
// the background, and lets go of what plugins kept. When it returns, observers were told
// of all that.
func (s *Session) Close(ctx context.Context) error {
	s.core.Life.End(fmt.Errorf("the session: %w", ErrClosed))
	s.host.mu.Lock()
	delete(s.host.open, s)
	s.host.mu.Unlock()
	if s.host.options.Permissions.Grants != nil {
		s.host.options.Permissions.Grants.EndSession(s.id)
	}
	err := s.core.End(ctx)
	s.news.flush()
	return errors.Join(err, s.core.Close())
}
