package capability

import (
	"context"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// Cron are the prompts that come by the clock, as one call has them: an agent has its own jobs,
// and the main agent all those of its chain and the durable ones of the project. It is safe for
// concurrent use. Faults of what a model wrote are errors of [abi.CodeInvalidInput], an unknown
// job is one of [abi.CodeNotFound].
type Cron interface {
	// Check returns why [Cron.Do] would fail, as far as that is known before the person is
	// asked, and says in words what it would do, and as of when.
	Check(ctx context.Context, args *abi.CronArgs) (words string, at time.Time, err error)
	// Do does what a call of session.cron asks for. A job is made as of the time at which that
	// was checked; zero is now. If the person answers after it was to come, it comes at once,
	// not a year later. The jobs are those of [abi.CronList],
	// of which long prompts are cut where there is too much of them.
	Do(ctx context.Context, args *abi.CronArgs, checked time.Time) (ok abi.CronOK, jobs []abi.CronJob, err error)
}

// DuePrompt is a prompt that came due. Two with one ID and Due are the same.
type DuePrompt struct {
	// ID is the job's.
	ID     string `json:"id"`
	Prompt string `json:"prompt"`
	// Due is when it was to come.
	Due time.Time `json:"due"`
	// Recurring jobs come again, unless this is the Last time, which of other jobs it always is.
	Recurring bool `json:"recurring"`
	Last      bool `json:"last,omitempty"`
	Durable   bool `json:"durable,omitempty"`
	// Missed says that it comes over a minute late, since nothing ran that could have taken it,
	// or a turn did, or the clock was set. What was missed several times comes once.
	Missed bool `json:"missed,omitempty"`
	// Again says that who took it before ended before being done with it.
	Again bool `json:"again,omitempty"`
}
