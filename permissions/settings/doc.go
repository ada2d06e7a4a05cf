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
// has its way, in the order above. Of a project's files deny and ask rules always
// count, and that it demands isolation: what a repository brings may tighten.
// Everything else in them counts once the user was shown it and trusts the project.
// Trust pins what was shown ([Brought.Pin]): what the project brings later, or
// changes, is left out until it was shown too. A file that is there and cannot be
// read, or does not make sense, is an error, whosever it is: leaving it out would
// lose its deny rules.
//
// Beside rules, hooks and the judge there are the tables of how calls run ([Results],
// [Scheduler], [Tools], [Sessions], [Storage], [Log] and [Telemetry] have their values, with the least and
// most of each). Of those each key by itself is the weightiest source's, but for what
// belongs together: an endpoint and its headers, and the two ways to name tools.
// Projects may have the first three, which count once they were shown, since
// they can loosen as well as tighten; the others, where things are kept and who is
// told, they may not have at all.
//
//	[results]   max_chars, max_turn_chars, strategy, duplicates,
//	            tools.NAME.max_chars, tools.NAME.strategy
//	[scheduler] mode, max_concurrent, max_calls, max_per_plugin, cascade
//	[tools]     preset or only, defer, defer_over_tools, defer_over_chars
//	[tasks]     kind
//	[sessions]  directory, keep, history, history_keep, history_max, history_except
//	[storage]   keep, max
//	[log]       directory, required, inputs, rotate_at, rotate_after, keep, max
//	[telemetry] endpoint, headers, content
//
// [Shell] and [Sandbox] are how commands run and what they are kept from. In them a
// project, trusted or not, may only tighten what counts without it: times, numbers
// and sizes may be less; kill is stricter than background, off stricter than hosts
// and hosts than all, required stricter than when-available and that than off. What is
// looser is left out, with a warning. Keys with a * are not for projects at all.
//
//	[shell]     default_timeout, max_timeout, budget*, at_limit, environment*,
//	            max_background, max_output, bash*, powershell*
//	[sandbox]   mode, network, hosts*, writable*, outside*, unasked,
//	            contained, max_processes, max_memory, max_open_files
//
// [Network] and [Credentials] are how this process connects and where it keeps tokens;
// projects may not have them. [Server] is an MCP server of somebody else. Of each name the
// weightiest source's table counts as a whole; a project's need trust. Its .mcp.json weighs
// least, and holds no allowances: a table without a command and a url adds them.
//
//	[network]     proxy
//	[credentials] store
//	[mcp.NAME]    command, args, env, dir, or url, headers, auth; network, read, write,
//	              trust_annotations, always_load, enabled, start_timeout, call_timeout,
//	              idle_timeout
//
// The permission lists of a settings.json in the style of Claude Code are read
// too, where asked for.
//
// [Follow] keeps what is loaded up to date. [AddRule], [RemoveRule] and [AddOutside]
// change one entry of a file and nothing else in it.
package settings
