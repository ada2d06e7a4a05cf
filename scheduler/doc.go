// Package scheduler orders the jobs of one turn: which may run side by side,
// which must run alone, when each starts and in what order results leave. It
// knows no tools; a [Job] is whatever its maker says.
//
// # The law
//
// Jobs are added one by one, in call order, before or while others run. Walking
// them in that order, consecutive safe jobs form one batch and every other job
// is a batch of its own ([Partition]). Batches run one after the other; the
// jobs of a batch run side by side, at most [Options].MaxConcurrent at once, in
// a sliding window: the next one starts as soon as one has ended. In other
// words, a job may start when nothing is under way, or when it and everything
// under way is safe, and the queue stops at the first job that cannot start.
//
// # The life of a job
//
//	Queued -> Admitting -> Executing -> Completed -> Yielded
//
// When a job's turn comes it is admitted first: validation, hooks, permission.
// That holds no slot, since it may wait for a person, and the safe jobs of a
// batch do it side by side too. A safe job that waits holds nobody back; one
// that must run alone holds back all that follow.
//
// Then it takes a slot and runs. Its effects on the session are settled in call
// order: those of a job that ran alone at once, those of a batch before the
// next job outside of it begins its turn, so that what a job of a batch sees
// does not depend on how fast its neighbours are. Results leave strictly in
// call order, each as soon as it and all before it are complete.
//
// A safe job whose admission makes it unsafe (its input was rewritten) leaves
// its batch: it waits until those whose turn has come have ended, while no
// other job's turn comes, and then has its turn again, alone.
//
// # Failure
//
// When the context ends, what runs sees it, and what does not run yet fails
// with its cause. A job that panics fails with a [PanicError]. Either way every
// job is settled once and yields once, in its place, and its slot is free
// again.
//
// A job that runs may make calls of its own inside its Run. Those are part of
// it and take no slot, so that a pool can never wait for itself.
package scheduler
