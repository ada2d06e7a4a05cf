package mcp

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
)

// tasksExtension is how the Tasks extension of the revision 2026-07-28 is named.
const tasksExtension = "io.modelcontextprotocol/tasks"

// TaskOptions say when the calls of clients that know the Tasks extension become tasks: the
// client then gets a handle at once, by which it asks for the result, answers questions and
// cancels. Zero values stand for the defaults.
type TaskOptions struct {
	// After is how long a call may take before it becomes a task; the default is 2 seconds.
	After time.Duration
	// Keep is how long a task can be asked for after its end; the default is 10 minutes.
	Keep time.Duration
	// Max is how many tasks of one session are kept, those that have ended included; the default
	// is 128. Beyond it no call becomes a task, and a tool that needs one is refused.
	Max int
	// Use says what holds for a tool, by its name; nil is [TaskLater] for all.
	Use func(tool string) TaskUse
}

// The defaults of [TaskOptions].
const (
	DefaultTaskAfter = 2 * time.Second
	DefaultTaskKeep  = 10 * time.Minute
	DefaultMaxTasks  = 128
)

// TaskUse says whether the calls of a tool become tasks.
type TaskUse int

// The values of TaskUse. Clients that do not know the extension wait for the result, but for
// [TaskRequired].
const (
	// TaskLater makes a task of a call that has not ended after [TaskOptions].After.
	TaskLater TaskUse = iota
	// TaskAtOnce makes a task of every call.
	TaskAtOnce
	// TaskRequired does too, and refuses clients that do not know the extension.
	TaskRequired
	// TaskNever makes no tasks.
	TaskNever
)

func (o *TaskOptions) setDefaults() {
	setDefault(&o.After, DefaultTaskAfter)
	setDefault(&o.Keep, DefaultTaskKeep)
	if o.Max <= 0 {
		o.Max = DefaultMaxTasks
	}
	if o.Use == nil {
		o.Use = func(string) TaskUse { return TaskLater }
	}
}

// taskList are the tasks of a session.
type taskList struct {
	session *clientSession

	mu   sync.Mutex
	byID map[string]*task
}

// begin makes a task of a call, or returns nil where there are too many.
func (l *taskList) begin(c *call) *task {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.byID) >= l.session.server.options.Tasks.Max {
		return nil
	}
	if l.byID == nil {
		l.byID = make(map[string]*task)
	}
	now := time.Now().UTC()
	t := &task{id: rand.Text(), call: c, created: now, updated: now, changed: make(chan struct{})}
	l.byID[t.id] = t
	return t
}

// find finds a task by its id, or returns nil: there is none in this session.
func (l *taskList) find(id string) *task {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byID[id]
}

// end keeps a task that has ended for its time.
func (l *taskList) end(t *task) {
	time.AfterFunc(l.session.server.options.Tasks.Keep, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.byID, t.id)
	})
}

// The states of a task.
const (
	statusWorking   = "working"
	statusInput     = "input_required"
	statusCompleted = "completed"
	statusCancelled = "cancelled"
	statusFailed    = "failed"
)

// pollInterval is how often clients are told to ask for a task.
const pollInterval = 500 * time.Millisecond

// task is a call that a client has a handle of.
type task struct {
	id      string
	call    *call
	created time.Time

	mu        sync.Mutex
	cancelled bool
	said      string        // how far the call has come
	updated   time.Time     // when what is told of it last changed
	changed   chan struct{} // closed when it changes next
	ended     time.Time
}

// touch notes that something changed: what the call says of its progress, where said is not empty.
func (t *task) touch(said string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if said != "" {
		t.said = said
	}
	t.change()
}

// change tells those that watch. The caller holds the mutex.
func (t *task) change() {
	t.updated = time.Now().UTC()
	close(t.changed)
	t.changed = make(chan struct{})
}

// end notes that the call has ended.
func (t *task) end() {
	t.mu.Lock()
	t.ended = time.Now().UTC()
	t.change()
	t.mu.Unlock()
	t.call.session.tasks.end(t)
}

// cancel ends the call, if it still runs.
func (t *task) cancel() {
	select {
	case <-t.call.done:
		return
	default:
	}
	t.mu.Lock()
	t.cancelled = true
	t.mu.Unlock()
	t.touch("")
	t.call.cancel(errLeft)
}

// taskState is what a client is told of a task.
type taskState struct {
	mcp.ResultBase
	ResultType     string              `json:"resultType,omitempty"`
	TaskID         string              `json:"taskId"`
	Status         string              `json:"status"`
	StatusMessage  string              `json:"statusMessage,omitempty"`
	CreatedAt      time.Time           `json:"createdAt"`
	LastUpdatedAt  time.Time           `json:"lastUpdatedAt"`
	TTLMs          *int64              `json:"ttlMs"` // from CreatedAt; null while the call runs
	PollIntervalMs int64               `json:"pollIntervalMs"`
	InputRequests  mcp.InputRequestMap `json:"inputRequests,omitempty"`
	Result         *taskResult         `json:"result,omitempty"`
	Error          *jsonrpc.Error      `json:"error,omitempty"`
}

// ended reports whether the state is the last one.
func (s *taskState) ended() bool { return s.TTLMs != nil }

// taskResult is the result of a call within a task.
type taskResult struct {
	*mcp.CallToolResult
}

// MarshalJSON writes the result with its type, which the SDK leaves to itself.
func (r *taskResult) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(r.CallToolResult)
	if err != nil {
		return nil, err
	}
	return append([]byte(`{"resultType":"complete",`), text[1:]...), nil
}

// begun is what a client gets in place of a result.
func (t *task) begun() *taskState {
	s := t.head()
	s.ResultType, s.Status = "task", statusWorking
	return s
}

// head is what is told in every state.
func (t *task) head() *taskState {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &taskState{
		ResultType: "complete", TaskID: t.id, Status: statusWorking, StatusMessage: t.said,
		CreatedAt: t.created, LastUpdatedAt: t.updated, PollIntervalMs: pollInterval.Milliseconds(),
	}
	if t.cancelled {
		s.Status = statusCancelled
	}
	if !t.ended.IsZero() {
		ttl := (t.ended.Sub(t.created) + t.call.session.server.options.Tasks.Keep).Milliseconds()
		s.TTLMs = &ttl
	}
	return s
}

// state is all that is to be told.
func (t *task) state() *taskState {
	select {
	case <-t.call.done:
	default:
		s := t.head()
		if open := t.call.openRequests(); s.Status == statusWorking && len(open) > 0 {
			s.Status, s.InputRequests = statusInput, open
		}
		return s
	}
	s := t.head()
	if s.Status == statusCancelled {
		return s
	}
	result, err := t.call.outcome()
	if err == nil {
		err = t.call.defect()
	}
	if err != nil {
		s.Status, s.Error = statusFailed, rpcError(err)
		return s
	}
	s.Status, s.Result = statusCompleted, &taskResult{result}
	return s
}

// defect is the error of a call that the tool did not answer: it crashed, say, or the host has a
// defect. The one of a tool that answered with an error is nil.
func (c *call) defect() error {
	e := c.result.Error
	if e == nil {
		return nil
	}
	switch e.Code {
	case abi.CodeTrap, abi.CodeProtocol, abi.CodeLoad, abi.CodeInternal:
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: c.result.Text()}
	}
	return nil
}

func rpcError(err error) *jsonrpc.Error {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return e
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}

// openRequests are what the call asks its client for at the moment.
func (c *call) openRequests() mcp.InputRequestMap {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests()
}
