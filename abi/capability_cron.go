package abi

// The operations of session.cron.
const (
	CronCreate = "create"
	CronDelete = "delete"
	CronList   = "list"
)

// The bounds of session.cron: MaxCronJobs is how many jobs there are at once, and MaxCronPrompt
// bounds a prompt, in code points.
const (
	MaxCronJobs   = 50
	MaxCronPrompt = 20_000
)

// CronArgs are the arguments of session.cron. The answer's head is [CronOK]. With [CronList] its
// body is a JSON array of [CronJob], in the order in which they come due.
type CronArgs struct {
	// Do is one of the operations.
	Do string `json:"do"`
	// Cron, Prompt, Recurring and Durable are the job of [CronCreate]. Cron has five fields as
	// in crontab(5), by the local wall clock, and must match within a year. A recurring job
	// ends after seven days; any other when its prompt came once. A durable one outlives the
	// session.
	Cron      string `json:"cron,omitempty"`
	Prompt    string `json:"prompt,omitempty"`
	Recurring bool   `json:"recurring,omitempty"`
	Durable   bool   `json:"durable,omitempty"`
	// ID names the job of [CronDelete].
	ID string `json:"id,omitempty"`
}

// CronOK is the answer to session.cron.
type CronOK struct {
	// Job is the job that was made, or was deleted; nil with [CronList].
	Job *CronJob `json:"job,omitempty"`
	// Notes are what else is to be known, such as that a damaged job was put aside.
	Notes []string `json:"notes,omitempty"`
}

// CronJob is a prompt that comes when it is due.
type CronJob struct {
	// ID is a letter and eight digits or letters; none is used twice.
	ID string `json:"id"`
	// Cron is the line as it was given, and HumanSchedule the same in words.
	Cron          string `json:"cron"`
	HumanSchedule string `json:"humanSchedule"`
	Prompt        string `json:"prompt"`
	Recurring     bool   `json:"recurring"`
	Durable       bool   `json:"durable,omitempty"`
	// Next is when it comes due, as RFC 3339 has it; empty where it is due and was not told yet.
	Next string `json:"next,omitempty"`
	// Agent made it; empty for the main agent.
	Agent string `json:"agent,omitempty"`
}
