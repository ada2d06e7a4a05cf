package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// listening is a request to be told of tasks as they change.
type listening struct {
	ID     json.RawMessage `json:"id"`
	Params struct {
		Meta          map[string]any `json:"_meta"`
		Notifications struct {
			TaskIDs []string `json:"taskIds"`
		} `json:"notifications"`
	} `json:"params"`
}

// listens serves a request that asks to be told of tasks, which the SDK cannot do, and reports
// whether it was one. Of a request that asks for other news too, those are not agreed to: the
// client listens for them by another. Over a pipe nothing is told of tasks.
func (h *handler) listens(w http.ResponseWriter, r *http.Request, c *clientSession) bool {
	if r.Header.Get("Mcp-Method") != "subscriptions/listen" {
		return false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.server.options.MaxMessage))
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, err)
		return true
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var l listening
	if json.Unmarshal(body, &l) != nil || len(l.Params.Notifications.TaskIDs) == 0 ||
		l.Params.Meta[mcp.MetaKeyProtocolVersion] != stateless || r.Header.Get("Mcp-Protocol-Version") != stateless {
		return false // the SDK says what is wrong, if anything is
	}
	if !knowsTasks(l.Params.Meta) {
		answer(w, http.StatusBadRequest, l.ID, errNoTasks)
		return true
	}
	s := stream{w: w, id: l.ID}
	var tasks []*task
	agreed := []string{}
	for _, id := range l.Params.Notifications.TaskIDs {
		if t := c.tasks.find(id); t != nil {
			tasks, agreed = append(tasks, t), append(agreed, id)
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	err = s.notify("notifications/subscriptions/acknowledged", map[string]any{"notifications": map[string]any{"taskIds": agreed}})
	if err == nil {
		err = s.follow(r.Context(), tasks)
	}
	if err == nil {
		_ = s.send(map[string]any{"id": l.ID, "result": s.tagged(map[string]any{"resultType": "complete"})}) // it ends in any case
	}
	return true
}

// stream is an answer of events.
type stream struct {
	w  http.ResponseWriter
	id json.RawMessage // of the request
}

// follow tells of each change of tasks, from their states as they are, until all have ended.
func (s *stream) follow(ctx context.Context, tasks []*task) error {
	changed := make(chan *task)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, t := range tasks {
		go t.watch(ctx, changed)
	}
	left := make(map[*task]struct{}, len(tasks))
	for _, t := range tasks {
		left[t] = struct{}{}
	}
	for len(left) > 0 {
		select {
		case t := <-changed:
			if _, ok := left[t]; !ok {
				continue
			}
			state := t.state()
			if state.ended() {
				delete(left, t)
			}
			state.ResultType = ""
			state.SetMeta(map[string]any{mcp.MetaKeySubscriptionID: s.id})
			if err := s.notify("notifications/tasks", state); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// watch hands a task over now and after each change, until it has ended.
func (t *task) watch(ctx context.Context, changed chan<- *task) {
	for {
		t.mu.Lock()
		next, over := t.changed, !t.ended.IsZero()
		t.mu.Unlock()
		select {
		case changed <- t:
		case <-ctx.Done():
			return
		}
		if over {
			return
		}
		select {
		case <-next:
		case <-ctx.Done():
			return
		}
	}
}

func (s *stream) notify(method string, params any) error {
	if m, ok := params.(map[string]any); ok {
		params = s.tagged(m)
	}
	return s.send(map[string]any{"method": method, "params": params})
}

// tagged adds which request something belongs to.
func (s *stream) tagged(m map[string]any) map[string]any {
	m["_meta"] = map[string]any{mcp.MetaKeySubscriptionID: s.id}
	return m
}

// writeTime is how long a client may take to read an event.
const writeTime = time.Minute

func (s *stream) send(message map[string]any) error {
	message["jsonrpc"] = "2.0"
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	control := http.NewResponseController(s.w)
	_ = control.SetWriteDeadline(time.Now().Add(writeTime)) // where there is none, the server has its own
	if _, err := fmt.Fprintf(s.w, "event: message\ndata: %s\n\n", text); err != nil {
		return err
	}
	return control.Flush()
}
