// Package filestate keeps the read state of files: which bytes of which file a model
// has seen, and whether the file is still the same.
//
// [Files] is the read state of one session. A [Turn] collects what the results of its
// calls show, and hands it to the session when the turn ends: only then is it known
// which results reached the model. A [Call] is what capabilities see of both.
package filestate
