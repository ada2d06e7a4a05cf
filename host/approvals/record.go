package approvals

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/message"
	"github.com/toolquay/toolquay/permissions"
)

// version is the format of approvals, and versionMore of other questions: a program that knows
// approvals alone would take them for some.
const (
	version     = 1
	versionMore = 2
)

// Resume is what it takes to run a call again that the question itself does not
// tell.
type Resume struct {
	// Began is the directory that the session began in. One in a worktree finds its way there
	// again from that.
	Began          string   `json:"began,omitempty"`
	AdditionalDirs []string `json:"additional_dirs,omitempty"`
	// Flags are those of the command that asked, which the call is judged by:
	// rules and plugins that stand in no file.
	Flags []string `json:"flags,omitempty"`
	// Format is how the model's message was written, and the result is to be.
	Format message.Format `json:"format,omitempty"`
}

// Record is a question as it is kept: everything a person must see to answer it,
// and everything it takes to run the call again.
type Record struct {
	Version int `json:"version"`
	// ID is the question's.
	ID string `json:"id"`
	Call
	Part
	// Form, URL, Choice or Plan is what is asked, where that is no approval.
	Form   *Form              `json:"form,omitempty"`
	URL    *host.URLQuestion  `json:"url,omitempty"`
	Choice *host.Choice       `json:"choice,omitempty"`
	Plan   *host.PlanQuestion `json:"plan,omitempty"`
	// Earlier is what the person had answered in the run that asked this: the call
	// will begin anew, so an answer repeats it.
	Earlier []Part `json:"earlier,omitempty"`
	Grounds

	Offers []host.RememberOption `json:"offers,omitempty"` // as Remember in [host.Approval]
	Origin

	Asked time.Time `json:"asked"`
	// Expires is when the question and its answer stop counting.
	Expires time.Time `json:"expires"`
}

// Form is a form as it is kept: the schema as text, so that its fields stay in their order.
type Form struct {
	Message string `json:"message"`
	Schema  string `json:"schema"`
}

// asked is the form as it was asked; nil for nil.
func (f *Form) asked() *host.Form {
	if f == nil {
		return nil
	}
	return &host.Form{Message: f.Message, Schema: json.RawMessage(f.Schema)}
}

// Call is the call that asked.
type Call struct {
	// Use is the call to run again, with its canonical input.
	Use    abi.ToolUse `json:"use"`
	Plugin string      `json:"plugin,omitempty"`
	Server string      `json:"server,omitempty"`
	Worker string      `json:"worker,omitempty"`
	Title  string      `json:"title,omitempty"`
	// Line is as in [host.Approval]. Older records have none.
	Line string `json:"display,omitempty"`
	// Binding is of the exact input and the tool's definition: the answer holds
	// for nothing else.
	Binding string `json:"binding"`
}

// Grounds are why it was asked. Reasons and Preview are as in [host.Approval], but leave out the
// outcome of a trial.
type Grounds struct {
	Why     Why      `json:"why"`
	Reasons []string `json:"reasons,omitempty"`
	Preview string   `json:"preview,omitempty"`
}

// Origin is the session that asked: its id, and the working directory and mode that it had.
type Origin struct {
	Session string           `json:"session"`
	Cwd     string           `json:"cwd"`
	Mode    permissions.Mode `json:"mode,omitempty"`
	Resume
}

// Part is what one question was about.
type Part struct {
	// Capability is the operation that the running call wanted done; empty for
	// the call itself.
	Capability string   `json:"capability,omitempty"`
	Accesses   []Access `json:"accesses,omitempty"`

	// Kind is that of a question that is no approval, and Asks a hash of what it asks.
	Kind host.QuestionKind `json:"kind,omitempty"`
	Asks string            `json:"asks,omitempty"`
	// Declined and Content are the answer, in [Record].Earlier.
	Declined bool            `json:"declined,omitempty"`
	Content  json.RawMessage `json:"content,omitempty"`
}

// Access is an access as it is kept.
type Access struct {
	permissions.Access

	// Digest is of everything the access says. Names that are no text are not
	// what they were in JSON; the digest is.
	Digest string `json:"digest"`
}

// Why is what asked, for people.
type Why struct {
	Layer   permissions.Layer `json:"layer,omitempty"`
	Rule    string            `json:"rule,omitempty"`
	Source  string            `json:"source,omitempty"`
	Matched string            `json:"matched,omitempty"`
	Reason  string            `json:"reason,omitempty"`
}

// newRecord is the record of a question.
func newRecord(q *host.Question, earlier []Part, resume Resume, expires time.Time) *Record {
	r := &Record{
		Version: versionMore, ID: q.ID, Part: partOf(q), URL: q.URL, Choice: q.Choice, Plan: q.Plan, Earlier: earlier,
		Call:   Call{abi.ToolUse{ID: q.Call, Name: q.Tool, Input: q.Input}, q.Plugin, q.Server, q.Worker, q.Title, q.Line, q.Binding},
		Origin: Origin{q.Session, q.Cwd, q.Mode, resume},
		Asked:  q.Asked.UTC(), Expires: expires.UTC(),
	}
	if q.Form != nil {
		r.Form = &Form{q.Form.Message, string(q.Form.Schema)}
	}
	if a := q.Approval; a != nil {
		r.Version, r.Offers = version, a.Remember
		r.Grounds = Grounds{whyOf(a.Decision), a.Reasons, a.Preview}
		if a.Tried { // the trial no longer exists when the answer comes
			r.Reasons, r.Preview = a.Reasons[min(1, len(a.Reasons)):], ""
		}
	}
	if slices.ContainsFunc(earlier, func(p Part) bool { return p.Kind != "" }) {
		r.Version = versionMore
	}
	return r
}

// Question is what the record asks; empty for an approval.
func (r *Record) Question() host.Ask {
	return host.Ask{Form: r.Form.asked(), URL: r.URL, Choice: r.Choice, Plan: r.Plan}
}

func whyOf(d *permissions.Decision) Why {
	if d == nil {
		return Why{}
	}
	w := Why{Layer: d.Layer, Matched: d.Matched(), Reason: d.Reason()}
	if d.Rule != nil {
		w.Rule, w.Source = d.Rule.String(), d.Rule.Source.String()
	}
	return w
}

func partOf(q *host.Question) Part {
	a := q.Approval
	if a == nil {
		what := []any{q.Form, q.URL} // these come first, as stored answers have them
		if q.Choice != nil || q.Plan != nil {
			what = append(what, q.Choice, q.Plan)
		}
		asks, _ := json.Marshal(what) // a schema that was parsed: it cannot fail
		sum := sha256.Sum256(asks)
		return Part{Kind: q.Kind, Asks: hex.EncodeToString(sum[:])}
	}
	p := Part{Capability: a.Capability}
	for _, access := range a.Accesses {
		p.Accesses = append(p.Accesses, Access{access, digestOf(access)})
	}
	return p
}

// digestOf tells any two accesses apart: it is over every field. Stored answers hold
// digests, so the text under the hash stays as the first version wrote it, whatever the type
// and its fields are called by now. A field that comes is added where it is not zero.
func digestOf(a permissions.Access) string {
	sum := sha256.Sum256(fmt.Appendf(nil,
		"permissions.Access{Kind:%q, Target:%q, Real:%q, Tree:%t, Glob:%q, Links:%t, Former:%q, Objects:%q, Removal:%t}",
		a.Kind, a.Target, a.Real, a.Tree, a.Glob, a.Links, a.Former, a.Objects, a.Removal))
	return hex.EncodeToString(sum[:])
}

// with is the part with the answer to it.
func (p Part) with(r host.Reply) Part {
	p.Declined, p.Content = r.Answer != host.AnswerAllow, r.Content
	return p
}

// reply is the answer to the part.
func (p *Part) reply() host.Reply {
	if p.Declined {
		return host.Reply{Answer: host.AnswerDeny}
	}
	return host.Reply{Answer: host.AnswerAllow, Content: p.Content}
}

// covers reports whether an answer to p is one to q.
func (p *Part) covers(q *Part) bool {
	return p.Kind == q.Kind && p.Asks == q.Asks && p.Capability == q.Capability && !slices.ContainsFunc(q.Accesses, func(a Access) bool {
		return !slices.ContainsFunc(p.Accesses, func(b Access) bool { return a.Digest == b.Digest })
	})
}

// parts are all that a yes to the record is a yes to, in the order in which they
// were asked.
func (r *Record) parts() []Part { return append(slices.Clone(r.Earlier), r.Part) }

// key names the calls that a record can be about: this session, this input, this
// tool. It begins the names of its files.
func key(session, binding string) string {
	sum := sha256.Sum256([]byte(session + "\x00" + binding))
	return hex.EncodeToString(sum[:8])
}

// maxLifetime bounds what a file may claim.
const maxLifetime = 366 * 24 * time.Hour

// check holds a record that was read to the name of its file.
func (r *Record) check(n name) error {
	switch {
	case r.Version != version && r.Version != versionMore:
		return fmt.Errorf("its version is %d; this program knows versions %d and %d", r.Version, version, versionMore)
	case r.ID != n.id || key(r.Session, r.Binding) != n.key:
		return errors.New("it is another question than its name says")
	case r.Session == "" || r.Binding == "" || r.Use.Name == "":
		return errors.New("it lacks its session, binding or tool")
	case r.Expires.Sub(r.Asked) > maxLifetime || r.Expires.Before(r.Asked):
		return fmt.Errorf("it is good from %s to %s", r.Asked.Format(time.RFC3339), r.Expires.Format(time.RFC3339))
	}
	if err := r.checkKind(); err != nil {
		return err
	}
	for _, p := range r.parts() {
		for _, a := range p.Accesses {
			if len(a.Digest) != 2*sha256.Size {
				return errors.New("an access lacks its digest")
			}
		}
	}
	return nil
}

// checkKind holds what is asked to the kind of question.
func (r *Record) checkKind() error {
	q := host.Question{Kind: r.Kind, Ask: r.Question()}
	switch {
	case r.Kind == "" && q.Ask == host.Ask{}:
		return nil
	case r.Kind != "" && r.Kind == q.AskedKind():
		if part := partOf(&q); part.Asks == r.Asks {
			return nil
		}
		return errors.New("it asks something else than it says it does")
	}
	return fmt.Errorf("it is a question of the kind %.40q without what that asks", r.Kind)
}
