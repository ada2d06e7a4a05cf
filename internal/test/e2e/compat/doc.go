// Package compat holds the command to what earlier versions of it wrote: settings, state,
// sessions, plugins, flags and the lines of run --stream. It has no code but tests; the
// README tells what they open.
package compat
