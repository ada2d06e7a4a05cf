// Package permissions judges what tool calls may do. It only judges: it opens
// no files, runs nothing and asks nobody.
//
// # The model
//
// Every effect is an [Access]: reading or writing a path, running a command,
// reaching a host, touching the session. A [Request] lists the accesses of a
// tool call, or of one capability call a running tool makes, and [Decide] judges
// it by a [Policy] and by [Evidence] gathered elsewhere:
//
//	policy, warnings, err := permissions.Compile(permissions.Setup{
//		Cwd:   permissions.Dir{Path: "/home/u/project"},
//		Rules: []permissions.RuleSet{{
//			Source: permissions.SourceUser,
//			Deny:   permissions.RuleTexts("Read(.env)"),
//			Allow:  permissions.RuleTexts("Read(//usr/share/doc)"),
//		}},
//	})
//	decision := permissions.Decide(policy, request, permissions.Evidence{})
//
// There are two gates. The call is judged before it starts, on what its input
// tells; each capability call is judged again, on the very paths it will act
// on. A plugin can touch nothing but through the second gate, so a tool of which
// the first can tell nothing is let start ([EffectsGated]); a tool that acts out
// of the host's sight is not ([EffectsUnknown]).
//
// # Precedence
//
// Deny is stronger than ask, ask than allow, allow than the mode. Which list a
// rule stands in tells, never how specific it is, whose it is, or in what order
// it comes. Two kinds of place ask even where a rule allows: those whose change
// would change what runs later, and those that hold secrets; guarded.go lists
// them. Where nobody can be asked, ask is deny, and [Decision.Message] names the
// rule that would allow it.
//
// In [ModeDefault] reads inside the working directories and the session's own
// folder are allowed and all else asks; in [ModeBypass] all else is allowed.
//
// # Rules
//
//	Grep             every call of the tool; Grep(*) is the same
//	mcp__server      every tool of an MCP server; mcp__server__* is the same
//	Read(pattern)    reading paths, by whichever tool
//	Edit(pattern)    changing paths, by whichever tool
//
// A deny or ask on Read also holds for changing. Deny or ask on Read or Edit
// without a pattern holds for every path. A star in a tool's name is for deny
// and ask, and in an allow only after a literal MCP server.
//
// Patterns are those of gitignore files, anchored by how they start:
//
//	//etc/hosts      absolute
//	~/notes          in the home directory
//	/docs            in the settings file's folder; for a project's, its root
//	./docs, a/b      in the working directory
//	.env, *.pem      any depth: of the working directory in an allow, anywhere
//	                 in a deny or ask
//	secrets/**       as that, but in an allow in the working directory only
//
// ? and [...] match one character, * any number within one component, ** any
// number of components. What matches a directory covers what is in it; in an
// allow, only where the pattern's last component has no wildcard, so that
// src/* is the files of src alone. An allow of src/** lets src be read and what
// is in it be changed, not src itself. Negation and {a,b} are refused.
//
// Components are compared byte by byte, with no normalisation of Unicode; where
// [Setup.FoldCase] is set, deny and ask rules match whatever the case. A path
// has two names, the one it was called by and the one it really has: an allow
// must hold for both, a deny or ask for either.
//
// # What is wrong with a rule
//
// A rule that cannot be understood grants nothing. A malformed deny or ask is an
// error of [Compile], a malformed allow a [Warning]. Where only the part in
// parentheses is not understood, as in Bash(git *), an allow grants nothing and
// a deny or ask binds the whole tool, with a warning.
package permissions
