// Package tempdir makes directories for temporary files that do not outlive their
// process. Where that was killed, the next one to run a command removes them: see [Sweep].
package tempdir
