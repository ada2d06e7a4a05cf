// Package results fits what tools answer into a model's context: what is too long
// goes to a file of the session's and leaves a preview, what a turn brings together
// is held to a budget, and what was replaced once is replaced the same way for
// ever. The numbers are section 5 of the behaviour that Toolquay keeps to.
package results
