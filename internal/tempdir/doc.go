// Package tempdir makes directories for temporary files that do not outlive their
// process. Where that was killed, the next start removes them: see [Sweep].
package tempdir
