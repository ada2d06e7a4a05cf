package lists

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/toolquay/toolquay/abi"
)

// Updated is what became of a task that was changed.
type Updated struct {
	// Task is the task as it now is, and as it was last where it was deleted.
	Task abi.WorkItem
	// Fields are those that changed, and From and To how the status did; both are empty
	// where it did not.
	Fields   []string
	From, To string
	// Unchecked is as in [abi.WorkOK].
	Unchecked bool
	Notes     []string
}

// update is one change of a task that is being worked out.
type update struct {
	*graph
	was, now *item
	by       string
	Updated
}

// newUpdate works out what a change makes of a task, without writing anything. It fails
// where the change is invalid.
func newUpdate(g *graph, id string, c *abi.WorkChange, by string) (*update, error) {
	was := g.items[parseID(id)]
	if was == nil {
		return nil, g.unknown("taskId", id)
	}
	u := &update{graph: g, was: was, by: by}
	if c.Status != nil && *c.Status == abi.WorkDeleted {
		u.Fields, u.From, u.To = []string{abi.WorkDeleted}, was.Status, abi.WorkDeleted
		u.Task = *g.task(was.ID)
		return u, nil
	}
	now := *was
	u.now = &now
	u.texts(c)
	u.metadata(c.Metadata)
	u.status(c)
	if err := u.edges(c); err != nil {
		return nil, err
	}
	if err := now.check(); err != nil {
		return nil, abi.Errorf(abi.CodeInvalidInput, "%w", err)
	}
	u.settle()
	return u, nil
}

// set changes one text.
func (u *update) set(field string, text *string, by *string) {
	if by != nil && *by != *text {
		*text = *by
		u.Fields = append(u.Fields, field)
	}
}

func (u *update) texts(c *abi.WorkChange) {
	u.set("subject", &u.now.Subject, c.Subject)
	u.set("description", &u.now.Description, c.Description)
	u.set("activeForm", &u.now.ActiveForm, c.ActiveForm)
	u.set("owner", &u.now.Owner, c.Owner)
}

// metadata merges; null removes.
func (u *update) metadata(by map[string]json.RawMessage) {
	merged := maps.Clone(u.was.Metadata)
	for key, value := range by {
		if string(bytes.TrimSpace(value)) == "null" {
			delete(merged, key)
			continue
		}
		if merged == nil {
			merged = make(map[string]json.RawMessage)
		}
		merged[key] = compact(value)
	}
	if maps.EqualFunc(merged, u.was.Metadata, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		return
	}
	u.now.Metadata = merged
	u.Fields = append(u.Fields, "metadata")
}

// compact is JSON without blanks; what is none stays as it is.
func compact(value json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return value
	}
	return b.Bytes()
}

// status changes the status, and the owner of what is begun.
func (u *update) status(c *abi.WorkChange) {
	u.set("status", &u.now.Status, c.Status)
	if c.Status == nil {
		return
	}
	if u.now.Status == u.was.Status {
		if u.now.Status == abi.WorkInProgress && c.Owner == nil && u.was.Owner != u.by {
			u.Notes = append(u.Notes, fmt.Sprintf("task %d was in progress already, and %s works on it; set owner to take it over", u.was.ID, ownerName(u.was.Owner)))
		}
		return
	}
	u.From, u.To = u.was.Status, u.now.Status
	if u.To != abi.WorkInProgress || c.Owner != nil || u.was.Owner == u.by {
		return
	}
	u.now.Owner = u.by
	u.Fields = append(u.Fields, "owner")
	if u.was.Owner != "" {
		u.Notes = append(u.Notes, fmt.Sprintf("task %d was owned by %s; it is yours now", u.was.ID, u.was.Owner))
	}
}

func ownerName(owner string) string {
	if owner == "" {
		return "nobody"
	}
	return owner
}

// edges adds edges. It fails where another task is not there, or would wait for itself.
func (u *update) edges(c *abi.WorkChange) error {
	blocks, err := u.with(u.now.Blocks, u.after[u.was.ID], c.AddBlocks, "addBlocks")
	if err != nil {
		return err
	}
	blockedBy, err := u.with(u.now.BlockedBy, u.before[u.was.ID], c.AddBlockedBy, "addBlockedBy")
	if err != nil {
		return err
	}
	u.now.Blocks, u.now.BlockedBy = blocks, blockedBy
	items := maps.Clone(u.items)
	items[u.was.ID] = u.now
	u.graph = newGraph(items)
	if way := u.cycle(u.was.ID); way != nil && len(c.AddBlocks)+len(c.AddBlockedBy) > 0 {
		return abi.Errorf(abi.CodeInvalidInput, "tasks would wait for each other: %s; nothing was changed", wayOf(way))
	}
	return nil
}

// wayOf writes a way along edges.
func wayOf(way []int) string {
	text := ""
	for i, id := range way {
		switch {
		case i == 0:
		case i == maxNamed && len(way) > maxNamed+1:
			return text + " -> ... -> " + strconv.Itoa(way[len(way)-1])
		default:
			text += " -> "
		}
		text += strconv.Itoa(id)
	}
	return text
}

// with adds ids to the edges that a task has of its own; had are all that it has.
func (u *update) with(own, had []int, ids []string, field string) ([]int, error) {
	if len(ids) > MaxTasks {
		return nil, abi.Errorf(abi.CodeInvalidInput, "%s has %d ids; there are at most %d tasks", field, len(ids), MaxTasks)
	}
	all := slices.Clone(own)
	for _, name := range ids {
		id := parseID(name)
		switch {
		case u.items[id] == nil:
			return nil, u.unknown(field, name)
		case id == u.was.ID:
			return nil, abi.Errorf(abi.CodeInvalidInput, "%s: task %d cannot wait for itself", field, id)
		case !slices.Contains(had, id) && !slices.Contains(all, id):
			all = append(all, id)
		}
	}
	if len(all) > len(own) {
		slices.Sort(all)
		u.Fields = append(u.Fields, map[string]string{"addBlocks": "blocks", "addBlockedBy": "blockedBy"}[field])
	}
	return all, nil
}

// settle fills in what the change comes to.
func (u *update) settle() {
	u.prune(u.now)
	if len(u.Fields) == 0 {
		u.Notes = append(u.Notes, "nothing changed: the task is so already")
	}
	u.Task = *u.task(u.was.ID)
	if open := u.open(u.was.ID); len(open) > 0 && u.To != "" && u.To != abi.WorkPending {
		u.Notes = append(u.Notes, fmt.Sprintf("task %d waits for %s, not completed yet", u.was.ID, named(open)))
	}
	u.Unchecked = u.To == abi.WorkCompleted && unchecked(u.completed())
}

// prune drops the edges of a task to what was deleted.
func (g *graph) prune(i *item) {
	gone := func(id int) bool { return g.items[id] == nil }
	i.Blocks = slices.DeleteFunc(slices.Clone(i.Blocks), gone)
	i.BlockedBy = slices.DeleteFunc(slices.Clone(i.BlockedBy), gone)
}
