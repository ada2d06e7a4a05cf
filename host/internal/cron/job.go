package cron

import (
	"crypto/rand"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
)

const (
	// lasts is how long a recurring job goes on: a model may have forgotten it by then.
	lasts = 7 * 24 * time.Hour
	// within is for how far ahead a new job must come due at least once.
	within = 366 * 24 * time.Hour
	// passed is how long ago a time of the year was that is taken for one that was missed: by a model
	// that thought for too long, or a person who answered a question that was kept.
	passed = 31 * 24 * time.Hour
	// setBack is how far a clock may be set back without anything coming due again, as cron(8)
	// has it.
	setBack = 3 * time.Hour
	// late is from when on a prompt counts as missed.
	late = time.Minute
)

// job is one prompt that comes due.
type job struct {
	ID        string    `json:"id"`
	Cron      string    `json:"cron"`
	Prompt    string    `json:"prompt"`
	Recurring bool      `json:"recurring"`
	Created   time.Time `json:"created"`
	// Through is up to when nothing comes due any more.
	Through time.Time `json:"through"`
	// Fired is what came due and was not told yet; nil is nothing.
	Fired *firing `json:"fired,omitempty"`

	agent    string
	chain    string
	durable  bool
	schedule *Schedule
}

// firing is one time that a job came due.
type firing struct {
	Due  time.Time `json:"due"`
	Last bool      `json:"last,omitempty"`
}

// newJob makes a job of what a model asks for.
func newJob(args *abi.CronArgs, by *permissions.Caller, now time.Time, zone *time.Location) (*job, error) {
	s, err := Parse(args.Cron)
	if err != nil {
		return nil, err
	}
	if err := checkPrompt(args.Prompt); err != nil {
		return nil, err
	}
	switch next, ok := s.Next(now, zone); {
	case !ok || next.Sub(now) > within:
		return nil, abi.Errorf(abi.CodeInvalidInput, "the cron line %q comes due on no day within a year", args.Cron)
	case next.Sub(now) > within-passed:
		return nil, abi.Errorf(abi.CodeInvalidInput, "the time of the cron line %q has passed, and comes again on %s: it is %s now; choose another time",
			args.Cron, next.Format(time.DateOnly), now.In(zone).Format(time.DateTime))
	}
	return &job{
		ID: newID(), Cron: args.Cron, Prompt: args.Prompt, Recurring: args.Recurring, Created: now, Through: now,
		agent: by.Agent, chain: by.Chain, durable: args.Durable, schedule: s,
	}, nil
}

// checkPrompt refuses what is no text, or too much of it.
func checkPrompt(prompt string) error {
	switch n := utf8.RuneCountInString(prompt); {
	case !utf8.ValidString(prompt):
		return abi.Errorf(abi.CodeInvalidInput, "the prompt is not valid UTF-8")
	case strings.TrimSpace(prompt) == "":
		return abi.Errorf(abi.CodeInvalidInput, "the prompt is blank")
	case n > abi.MaxCronPrompt:
		return abi.Errorf(abi.CodeInvalidInput, "the prompt has %d characters; at most %d: write it to a file and name that", n, abi.MaxCronPrompt)
	}
	for _, r := range prompt {
		if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' {
			return abi.Errorf(abi.CodeInvalidInput, "the prompt has the control character %U; leave it out", r)
		}
	}
	return nil
}

// What ids are made of: a letter and eight digits, as those of background tasks.
const (
	idLetter = "c"
	idDigits = 8
	digits   = "0123456789abcdefghijklmnopqrstuvwxyz"
)

// newID makes an id, which is not made twice.
func newID() string { return idLetter + strings.ToLower(rand.Text()[:idDigits]) }

func isID(text string) bool {
	return len(text) == len(idLetter)+idDigits && strings.HasPrefix(text, idLetter) && strings.Trim(text, digits) == ""
}

// settle begins anew from now where the clock was set back by far, and reports whether it was.
func (j *job) settle(now time.Time) bool {
	if !now.Before(j.Through.Add(-setBack)) {
		return false
	}
	j.Through = now
	if j.Created.After(now) {
		j.Created = now
	}
	return true
}

// next is when it comes due; false where it never does.
func (j *job) next(zone *time.Location) (time.Time, bool) { return j.schedule.Next(j.Through, zone) }

// fire notes that it came due, if it did. What it missed counts once.
func (j *job) fire(now time.Time, zone *time.Location) bool {
	due, ok := j.next(zone)
	if !ok || due.After(now) {
		return false
	}
	j.Through = now
	again, ok := j.next(zone)
	j.Fired = &firing{Due: due, Last: !j.Recurring || !ok || again.After(j.Created.Add(lasts))}
	return true
}

// prompt is what is told of a job that was fired.
func (j *job) prompt(now time.Time) capability.DuePrompt {
	return capability.DuePrompt{
		ID: j.ID, Prompt: j.Prompt, Due: j.Fired.Due, Recurring: j.Recurring, Last: j.Fired.Last,
		Durable: j.durable, Missed: now.Sub(j.Fired.Due) > late,
	}
}

// shown is the job as models and people are shown it.
func (j *job) shown(zone *time.Location) abi.CronJob {
	s := abi.CronJob{
		ID: j.ID, Cron: j.Cron, HumanSchedule: j.schedule.Words(), Prompt: j.Prompt, Recurring: j.Recurring, Durable: j.durable,
	}
	if j.agent != permissions.MainAgent {
		s.Agent = j.agent
	}
	if next, ok := j.next(zone); ok && j.Fired == nil {
		s.Next = next.Format(time.RFC3339)
	}
	return s
}

// at is when it is due, for the order of those that are.
func (j *job) at(zone *time.Location) time.Time {
	if j.Fired != nil {
		return j.Fired.Due
	}
	next, _ := j.next(zone)
	return next
}

// byTime orders jobs by when they are due, and those of one time by id.
func byTime(zone *time.Location) func(a, b *job) int {
	return func(a, b *job) int {
		if c := a.at(zone).Compare(b.at(zone)); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	}
}
