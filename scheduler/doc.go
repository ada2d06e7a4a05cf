// Package scheduler orders the jobs of one turn: which may run side by side, which
// must run alone, when each starts and in what order results leave. It knows no tools;
// a [Job] is whatever its maker says.
//
// # The law
//
// Jobs are added one by one, in call order, before or while others run. A job may
// begin its turn when nothing is under way, or when it is compatible with each job
// that is; the queue stops at the first job that may not. Two jobs are compatible if
// both are safe, or if both say what they lock and have no conflict there. So jobs
// with a conflict keep their order, and all jobs together leave the same state as if
// they had run one after the other. Slots limit how many run; the next job starts as
// soon as one has ended.
//
// Without locks ([Options].Plain) that is the partition into batches: consecutive
// safe jobs form one, every other job is one of its own, and batches run one after
// the other ([Partition]).
//
// # The life of a job
//
//	Queued -> Admitting -> Executing -> Completed -> Yielded
//
// When a job's turn comes it is admitted first: validation, hooks, permission. That
// holds no slot, since it may wait for a person. A safe job that waits holds nobody
// back; one that must run alone holds back all that follow.
//
// Then it takes a slot and runs. Its effects on the session are settled in call
// order: those of a job that is not safe at once, before its locks are released; those
// of safe jobs before the next job begins its turn that runs alone, or is not safe and
// locks what they locked. So what a job of a batch sees does not depend on how fast
// its neighbours are. Results leave strictly in call order, each as soon as it and
// all before it are complete.
//
// Admission may make a job unsafe, or make it lock more (its input was rewritten). Then
// it leaves its batch, waits until the jobs that have begun have ended, and has its
// turn again, alone, before any other begins. So it runs after jobs that follow it in
// call order and had begun, even if they conflict with what it locks now. The law holds
// for all jobs whose locks do not grow in Admit.
//
// # Workers
//
// A goroutine has the turns of one job after the other, for as long as there are
// jobs that may begin. While there are any that no goroutine has in hand, another one
// is on its way, so that a job that is slow, or waits, holds back no other.
//
// # Failure
//
// When the context ends, running jobs see it, and jobs that do not run yet fail with
// its cause. [Scheduler.Interrupt] spares jobs that block it and run. The failure of a
// job reaches no further than [Cascade] says. A job that panics fails with a
// [PanicError]. In each case every job is settled once and yields once, in its place,
// and its slot is free again. Only [Scheduler.Discard] keeps results back.
//
// Leftovers of a job keep its locks for a while, and no slot. A job that makes calls of
// its own inside its Run lends them its slot ([Slot.Lend]), so that a pool can never
// wait for itself.
package scheduler
