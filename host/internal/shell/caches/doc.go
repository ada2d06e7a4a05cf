// Package caches gives the confined commands of a project caches of their own for the tools
// that build and install: go, npm, cargo, pip and the like. The user's caches stay as they are.
// A command could put something into them that the user's own builds run later; what it puts
// into a layer, only confined commands of the same project use.
//
// A layer is a directory for each cache that [Table] lists, and the settings of the
// environment that have a tool use it. Where the tool can, it finds what the user's cache has.
package caches
