package cron

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
)

// view are jobs as the calls of an agent have them.
type view struct {
	*Jobs
	by permissions.Caller
}

var _ capability.Cron = view{}

// For returns the jobs as the calls of an agent have them.
func (j *Jobs) For(by permissions.Caller) capability.Cron { return view{j, by} }

// nextShown is how many times a person is shown at which a job would come due.
const nextShown = 3

// Check implements [capability.Cron].
func (v view) Check(_ context.Context, args *abi.CronArgs) (string, time.Time, error) {
	now := v.cron.now()
	var of *job
	var err error
	switch args.Do {
	case abi.CronCreate:
		of, _, _, err = v.planned(args, &v.by, now)
	case abi.CronDelete:
		of, err = v.find(args.ID, &v.by)
	case abi.CronList:
		return "", now, nil
	default:
		err = abi.Errorf(abi.CodeInvalidInput, "there is no operation %.40q on scheduled prompts; there are create, delete and list", args.Do)
	}
	if err != nil {
		return "", now, err
	}
	return v.describe(of), now, nil
}

// describe says in words when a job comes due, how long it lasts, and what it says.
func (v view) describe(k *job) string {
	var next []string
	for _, due := range k.coming(v.cron.options.Zone) {
		next = append(next, due.Format("Mon 2006-01-02 15:04 MST"))
	}
	goes := "once"
	if len(next) > 1 {
		goes = fmt.Sprintf("for %d days", lasts/(24*time.Hour))
	}
	if k.durable {
		goes += ", in whichever session of the project runs then"
	} else {
		goes += ", while this session runs"
	}
	return fmt.Sprintf("%s (%s), %s\nnext: %s\n\n%s\n", k.schedule.Words(), k.Cron, goes, strings.Join(next, "; "), k.Prompt)
}

// coming are the next times at which a job comes due before it ends, at most as many as are shown.
func (j *job) coming(zone *time.Location) (next []time.Time) {
	for at := j.Through; len(next) < nextShown; {
		due, ok := j.schedule.Next(at, zone)
		if !ok || len(next) > 0 && (!j.Recurring || due.After(j.Created.Add(lasts))) {
			break
		}
		next, at = append(next, due), due
	}
	return next
}

// Read returns the durable jobs of a project, whether or not somebody uses them, in the order in
// which they come due by the system's clock. It changes nothing.
func Read(root, project string) (jobs []abi.CronJob, notes []string, err error) {
	known, notes, err := stored(root, project).known(person())
	for _, k := range known {
		jobs = append(jobs, k.shown(time.Local))
	}
	return jobs, notes, err
}

// Delete deletes a durable job of a project.
func Delete(ctx context.Context, root, project, id string) (abi.CronJob, error) {
	found, err := stored(root, project).delete(ctx, id, person())
	if err != nil {
		return abi.CronJob{}, err
	}
	return found.shown(time.Local), nil
}

// person is who knows the durable jobs.
func person() *permissions.Caller { return &permissions.Caller{Agent: permissions.MainAgent} }

// stored are the durable jobs of a project alone.
func stored(root, project string) *Jobs {
	log := slog.New(slog.DiscardHandler)
	return New(Options{Store: NewStore(root, project, log), Logger: log}).Open(*person())
}

// maxListed bounds the prompts of a list, in characters: where they have more, each is cut after
// its part of that.
const maxListed = 50_000

// listed are jobs as a list has them.
func (v view) listed(known []*job) []abi.CronJob {
	jobs, chars := make([]abi.CronJob, 0, len(known)), 0 // which JSON has as a list
	for _, k := range known {
		jobs, chars = append(jobs, k.shown(v.cron.options.Zone)), chars+utf8.RuneCountInString(k.Prompt)
	}
	if chars <= maxListed {
		return jobs
	}
	for i := range jobs {
		text := []rune(jobs[i].Prompt)
		if part := maxListed / len(jobs); len(text) > part {
			jobs[i].Prompt = fmt.Sprintf("%s [%d more characters]", string(text[:part]), len(text)-part)
		}
	}
	return jobs
}

// Do implements [capability.Cron].
func (v view) Do(ctx context.Context, args *abi.CronArgs, checked time.Time) (ok abi.CronOK, jobs []abi.CronJob, err error) {
	if checked.IsZero() {
		checked = v.cron.now()
	}
	var one *job
	switch args.Do {
	case abi.CronCreate:
		one, ok.Notes, err = v.create(ctx, args, &v.by, checked)
		if err == nil && one.Recurring && len(one.coming(v.cron.options.Zone)) == 1 {
			ok.Notes = append(ok.Notes, "It comes once: its second time is after its end.")
		}
	case abi.CronDelete:
		one, err = v.delete(ctx, args.ID, &v.by)
	default:
		known, notes, err := v.known(&v.by)
		if err != nil { // those of the session are told all the same
			notes = append(notes, err.Error())
		}
		return abi.CronOK{Notes: notes}, v.listed(known), nil
	}
	if err != nil {
		return abi.CronOK{}, nil, err
	}
	shown := one.shown(v.cron.options.Zone)
	ok.Job = &shown
	return ok, nil, nil
}
