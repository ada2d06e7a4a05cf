// Package settings reads, watches and changes the files that say what Toolquay
// may do: one for each source of rules.
//
//	policy         settings.toml and settings.d/*.toml in the system's directory
//	command line   in memory
//	session        in memory
//	project-local  .toolquay/settings.local.toml
//	project        .toolquay/settings.toml
//	user           settings.toml in the user's configuration directory
//
// [Load] puts them together. The lists of rules of all sources are merged; of
// everything that can only be one way, the weightiest source that speaks of it
// has its way, in the order above. Of a project that is not trusted only deny and
// ask rules count, and that it demands isolation: what a repository brings may
// tighten, never loosen. A file that is there and cannot be read, or does not
// make sense, is an error, whosever it is: leaving it out would lose its deny
// rules.
//
// Beside rules, hooks and the judge there are the tables of how calls run: results,
// scheduler, tools, and, which no project may have, sessions and telemetry.
// Of those each key by itself is the weightiest source's.
//
// The permission lists of a settings.json in the style of Claude Code are read
// too, where asked for.
//
// [Follow] keeps what is loaded up to date. [AddRule] and [RemoveRule] change one
// rule of a file and nothing else in it.
package settings
