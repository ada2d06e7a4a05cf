// Package commands prepares the commands that tools run once they are permitted: their
// environment, what their sandbox hides, protects and lets them write in, and what runs
// them. It judges nothing: the [Gate] of a call tells it the policy and what was approved.
package commands
