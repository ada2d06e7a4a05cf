// Package cron keeps prompts that come due by the clock: jobs, each with a line of cron.
//
//	jobs := cron.New(cron.Options{Store: store, Logger: logger}).Open(main)
//	ok, _, err := jobs.For(main).Do(ctx, &abi.CronArgs{Do: abi.CronCreate, Cron: "0 9 * * 1-5", Prompt: "stand up"})
//	jobs.Run(ctx, taker)
//
// # Time
//
// A line is of the wall clock. Each job knows up to which instant it has come due, and is due at
// the first time after that ([Schedule.Next]). So what was missed comes once, and a clock that is
// set back by less than three hours has nothing come twice; set back further, all begin anew. The
// clock is looked at when the next job is due, and once a minute as long as there is a job, or
// another process may make one.
//
// # On disk
//
// Durable jobs are those of a project. Its directory has
//
//	lock              locked by the process that changes jobs
//	c1a2b3c4d.json    a job
//	c1a2b3c4d.lock    locked by the process that tells the job's prompt
//	c1a2b3c4d.damaged a job's file that could not be read, put aside for people
//
// A prompt that comes due is written down as such, then told, then written down as told, while its
// lock is held. Each is one file that is replaced. A process that is killed before the first has
// done nothing; another one that looks finds the job due. One that is killed between the two leaves
// it half fired, and the lock with it: the next process that looks tells the prompt again, and says
// so. No process tells what another one alive is telling. A process looks when it begins to take
// prompts, when a job is made or deleted in it, when one it knows is due, and once a minute. One that
// can only give prompts at times ([Jobs.Due]) looks as often at most.
package cron
