package cron

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// Options configure the jobs of a host.
type Options struct {
	// Store keeps durable jobs; nil keeps none.
	Store *Store
	// Now is the wall clock, and Zone what it is of; nil is the system's.
	Now    func() time.Time
	Zone   *time.Location
	Logger *slog.Logger
}

// Cron has the jobs of the sessions of a host. It is safe for concurrent use.
type Cron struct {
	options Options

	mu       sync.Mutex
	sessions map[*Jobs]struct{}
}

// New returns a host without jobs but those that are stored.
func New(o Options) *Cron {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	return &Cron{options: o, sessions: make(map[*Jobs]struct{})}
}

// now is what the wall clock shows: without the other clock of [time.Time], which stands still
// while a machine sleeps.
func (c *Cron) now() time.Time { return c.options.Now().Round(0) }

// Jobs are those of a session and, where it is the main agent's, the durable ones of the project.
type Jobs struct {
	cron *Cron
	// durable says that the durable ones are told in the session.
	durable bool
	// changed has a token when there may be other jobs to wait for.
	changed chan struct{}
	// running has a token while somebody takes what comes due. It guards told, the times of
	// durable jobs that were told and could not be written down as such, warned, of what the
	// log knows, and when [Jobs.Due] looked last, and for how long nothing comes due since.
	running chan struct{}
	told    map[string]time.Time
	warned  map[string]bool
	looked  time.Time
	wait    time.Duration

	mu   sync.Mutex
	list []*job
}

// Open begins the jobs of a session, whose calls somebody makes.
func (c *Cron) Open(by permissions.Caller) *Jobs {
	j := &Jobs{
		cron: c, durable: c.options.Store != nil && lasting(&by), changed: make(chan struct{}, 1), running: make(chan struct{}, 1),
		told: make(map[string]time.Time), warned: make(map[string]bool),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions[j] = struct{}{}
	return j
}

// lasting reports whether jobs of an agent can outlive its session.
func lasting(by *permissions.Caller) bool { return by.Agent == permissions.MainAgent && by.Team == "" }

// Close forgets those that are not durable.
func (j *Jobs) Close() {
	j.cron.mu.Lock()
	defer j.cron.mu.Unlock()
	delete(j.cron.sessions, j)
}

// reach are the sessions that have jobs which an agent may know.
func (j *Jobs) reach(by *permissions.Caller) []*Jobs {
	if by.Agent != permissions.MainAgent {
		return []*Jobs{j}
	}
	j.cron.mu.Lock()
	defer j.cron.mu.Unlock()
	return slices.Collect(maps.Keys(j.cron.sessions))
}

// knows reports whether an agent knows a job: its own, and the main agent all of its chain.
func (j *job) knows(by *permissions.Caller) bool {
	return j.chain == by.Chain && (by.Agent == permissions.MainAgent || j.agent == by.Agent)
}

// own are the jobs that the session keeps itself.
func (j *Jobs) own() []*job {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := make([]*job, len(j.list))
	for i := range j.list {
		copied := *j.list[i]
		list[i] = &copied
	}
	return list
}

// known are the jobs that an agent knows, in the order in which they come due.
func (j *Jobs) known(by *permissions.Caller) (list []*job, notes []string, err error) {
	for _, s := range j.reach(by) {
		list = append(list, s.own()...)
	}
	list = slices.DeleteFunc(list, func(k *job) bool { return !k.knows(by) })
	if store := j.cron.options.Store; store != nil && lasting(by) {
		durable, found, failed := store.all(false)
		list, notes, err = append(list, durable...), found, ioError(failed)
	}
	slices.SortFunc(list, byTime(j.cron.options.Zone))
	return list, notes, err
}

// stir has all sessions of the host look again what they wait for.
func (c *Cron) stir() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := range c.sessions {
		select {
		case s.changed <- struct{}{}:
		default:
		}
	}
}

// create makes a job for an agent, as of an instant.
func (j *Jobs) create(ctx context.Context, args *abi.CronArgs, by *permissions.Caller, at time.Time) (made *job, notes []string, err error) {
	made, others, notes, err := j.planned(args, by, at)
	if err != nil {
		return nil, nil, err
	}
	defer j.cron.stir()
	if made.durable {
		notes, err = j.cron.options.Store.add(ctx, made, func(durable int) error { return room(others + durable) })
		return made, notes, err
	}
	kept := *made
	j.mu.Lock()
	defer j.mu.Unlock()
	j.list = append(j.list, &kept)
	return made, notes, nil
}

// planned is the job that a call asks for, which is not kept yet, and how many there are that are
// not durable.
func (j *Jobs) planned(args *abi.CronArgs, by *permissions.Caller, at time.Time) (made *job, others int, notes []string, err error) {
	if made, err = j.new(args, by, at); err != nil {
		return nil, 0, nil, err
	}
	all := *by
	all.Agent = permissions.MainAgent // who knows the jobs of the others
	known, notes, err := j.known(&all)
	if err != nil && !made.durable {
		notes, err = append(notes, err.Error()), nil
	}
	if err == nil {
		err = room(len(known))
	}
	others = len(slices.DeleteFunc(known, func(k *job) bool { return k.durable }))
	return made, others, notes, err
}

// new makes the job that a call asks for, without keeping it.
func (j *Jobs) new(args *abi.CronArgs, by *permissions.Caller, at time.Time) (*job, error) {
	made, err := newJob(args, by, at, j.cron.options.Zone)
	switch {
	case err != nil:
		return nil, err
	case !args.Durable:
	case !lasting(by):
		return nil, abi.Errorf(abi.CodeInvalidInput, "durable jobs are for the main agent alone, as other agents do not outlast their session; make it without durable")
	case j.cron.options.Store == nil:
		return nil, abi.Errorf(abi.CodeUnsupported, "there is no place here for durable jobs; make it without durable, and it ends with the session")
	}
	return made, nil
}

// room fails where there are as many jobs as there may be.
func room(jobs int) error {
	if jobs < abi.MaxCronJobs {
		return nil
	}
	return abi.Errorf(abi.CodeLimit, "there are %d scheduled jobs, and there can be no more: list them with CronList, and delete one with CronDelete", jobs)
}

// find finds a job that an agent knows.
func (j *Jobs) find(id string, by *permissions.Caller) (*job, error) {
	known, _, err := j.known(by)
	if at := slices.IndexFunc(known, func(k *job) bool { return k.ID == id }); at >= 0 {
		return known[at], nil
	}
	if err != nil {
		return nil, err
	}
	return nil, unknown(id, known)
}

// delete ends a job that an agent knows.
func (j *Jobs) delete(ctx context.Context, id string, by *permissions.Caller) (*job, error) {
	found, err := j.find(id, by)
	if err != nil {
		return nil, err
	}
	defer j.cron.stir()
	if found.durable {
		was, err := j.cron.options.Store.delete(ctx, id)
		if err == nil && !was {
			return j.find(id, by) // which says what there is
		}
		return found, err
	}
	for _, s := range j.reach(by) {
		s.forget(id)
	}
	return found, nil
}

// forget drops a job of the session.
func (j *Jobs) forget(id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.list = slices.DeleteFunc(j.list, func(k *job) bool { return k.ID == id })
}

// unknown is the error of an id that no job has.
func unknown(id string, known []*job) error {
	var ids []string
	for _, k := range known {
		ids = append(ids, fmt.Sprintf("%s (%s)", k.ID, k.schedule.Words()))
	}
	if len(ids) == 0 {
		return abi.Errorf(abi.CodeNotFound, "there is no scheduled job %.40q, nor any other", id)
	}
	return abi.Errorf(abi.CodeNotFound, "there is no scheduled job %.40q; there are %s", id, strings.Join(ids, ", "))
}
