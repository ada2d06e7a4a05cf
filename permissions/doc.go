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
//		Layout: permissions.Layout{Cwd: permissions.Dir{Path: "/home/u/project"}},
//		Rules:  []permissions.RuleSet{{
//			Source: permissions.SourceUser,
//			Deny:   permissions.RuleTexts("Read(.env)", "Bash(git push:*)"),
//			Allow:  permissions.RuleTexts("Read(//usr/share/doc)", "Bash(npm run test:*)"),
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
//	deny      a rule, a hook, the tool's check; changing files in plan mode
//	must ask  an ask rule, a hook, the tool's check; protected paths; commands
//	          that cannot be judged, hosts that cannot be told
//	allow     a rule, a hook, a built-in tool's check
//	mode      the table of modes
//	judge     in the mode auto, for what is still open
//	person    whatever asks
//
// The stronger line wins. Which list a rule stands in tells, never how specific
// it is, whose it is, or in what order it comes. A request with several accesses
// gets the strictest verdict of them. What a person approved stands for what
// would ask, for exactly the accesses that were listed, and never against a deny.
//
// Two kinds of protected path ask even where a rule allows: those whose change would
// change what runs later, and those that hold secrets; internal/protected lists them. So
// does, in every mode, removing the root, what is in it, the home, the working
// directory or what is above them, and leaving the sandbox.
//
// Where nobody can be asked, ask is deny; [Decision.Message] names the rule that
// would allow it, and [Decision.Refusal] does for programs. [Explain] lists what
// every layer found.
//
// # Modes
//
// What is left open asks for an answer of the mode:
//
//	                                  default  plan  acceptEdits  auto   bypassPermissions
//	reads inside, read-only commands  allow    allow allow        allow  allow
//	reads outside                     ask      ask   ask          judge  allow
//	edits inside                      ask      deny  allow        allow  allow
//	edits outside                     ask      deny  ask          judge  allow
//	other commands, network, tools    ask      ask   ask          judge  allow
//	protected paths                   ask      ask*  ask          ask    allow
//	commands that cannot be judged    ask      ask   ask          ask    allow
//	critical removal, no sandbox      ask      ask*  ask          ask    ask
//
// Inside is in the working directories or the directory for temporary files; for reads also
// in the session directory. mkdir, mktemp, touch, rm, rmdir, mv, cp and sed are edits, where
// it is known what they touch. In plan mode edits are always denied (*), but of the plan file. In
// dontAsk the answers are those of default, and what asks is denied. A judge that
// cannot tell leaves it to the person; [JudgeCall] is the built-in one.
//
// # Rules
//
//	Grep                  every call of the tool; Grep(*) is the same
//	mcp__server           every tool of an MCP server; mcp__server__* is the same
//	mcp__server__get_*    those of its tools
//	Read(pattern)         reading paths, by whichever tool
//	Edit(pattern)         changing paths, by whichever tool
//	Bash(command)         running commands
//	WebFetch(domain:host) reaching hosts
//	Tool(param:value)     calls with that field in their input; deny and ask only
//
// A deny or ask on Read also holds for changing. Deny or ask on Read, Edit, Bash
// or WebFetch without parentheses holds for every path, command or host, whichever
// tool gets there. A star in a tool's name is for deny and ask, and in an allow
// only after a literal MCP server. Where a server is on record, names are compared
// with the record; the server of an allow ends at its first "__". A rule written
// with an alias binds the tool.
//
// # Paths
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
// must hold for both, a deny or ask for either. Write(pattern), Glob(pattern) and
// their like count as Edit and Read in a deny or ask, and grant nothing.
//
// # Commands
//
// A rule on commands is split into words as a shell splits it, quotes taken off,
// and compared with the words of each simple command in turn:
//
//	Bash(make)            exactly that
//	Bash(npm test:*)      starts with these words; Bash(npm test *) is the same
//	Bash(npm*)            starts with these letters, wherever the word ends
//	Bash(git * main)      a star elsewhere stands for anything, words too
//	Bash(make \*)         a literal star; :* elsewhere than at the end is literal
//	Bash(make && go vet)  exactly this text and no other
//
// Every simple command of a list, pipe, loop, substitution needs its own allow, or
// must be read-only; one that is denied denies all, one that asks, asks. What a
// command touches meets the rules on paths and hosts as any access does: Read(.env)
// denied means denied for cat .env and for < .env. A rule that allows a simple
// command also allows what that one touches, but nothing that is denied, asked
// about or guarded; and not that the shell redirects to a host, or writes a file
// outside of the working directories: Bash(make:*) is make > log, and not
// make > ~/log.
//
// A path or host that is only known when the command runs (a variable, a substitution,
// another user's home, a pattern behind >) may be any that a rule names. So where a deny or
// ask rule on that kind of access exists, a person is asked in every mode. In plan mode what
// may write to such a path is denied. A redirection that writes to one asks whatever allows
// the command, and so does a write to a whole directory, or of a command whose text names a
// protected place. See [Unknown].
//
// What git prints is the repository's: a form that shows content reads all of it, wherever it
// runs, and the repositories that it shares branches or objects with. See [Repository].
//
// An allow is narrow. Its program is literal. A word in which the shell would
// expand something is matched by a star, or by being written the same. Variables
// set before the program stop it, unless they are known to be harmless, or to do no
// more than to tune programs: CI=1, RUST_LOG=debug, GOOS=linux. Programs
// that run others (sudo, env, watch, npx, docker exec, find -exec ...) are never
// allowed by a rule with a wildcard; wrappers that change nothing (timeout, nice
// ...) are looked through. A rule on a whole text allows that text, to the letter.
// It speaks of the tool it names: Bash(make) is nothing to another shell tool.
// No rule allows a command that cannot be parsed, nor one of which nothing is
// known. In the mode auto rules that come to allowing any command, such as Bash,
// Bash(python:*) or Bash(npm run *), are set aside: [Policy.SetAside].
//
// A command that runs wholly confined ([Request].Confined) is allowed by the modes
// acceptEdits and auto ([Setup].Unasked), and reaches the hosts that rules on WebFetch
// allow. What it names, and deny and ask rules, are judged as ever. The other modes allow
// one that only reads where it can write nothing and reach no host
// ([Command].ReadOnlyConfined): it then runs so.
//
// PowerShell(command) speaks of commands for PowerShell in the same way. Of those less
// is understood, and what is not (script blocks, sub-expressions, types ...) is allowed
// by no rule but one on the whole text, or on the tool.
//
// A deny or ask is wide. Bash(...) speaks of the commands of every tool. It holds
// also behind wrappers, variables and directories (/bin/rm is rm), and where a
// command cannot be parsed, for each word that may be a program. Where the shell
// has yet to expand a word and the rule could then match, a person is asked. A
// rule with an operator, a redirection or a variable in it is compared with the
// text alone: prefer one on the simple command.
//
// # Hosts
//
// WebFetch(domain:example.com) is that host; domain:*.example.com is what is below
// it, and not itself; domain:* is any. The host is the one that is dialled, in
// lower case, with no dot at its end. URLs that readers disagree about (user
// information, backslashes, encoded characters, letters outside ASCII, addresses
// in odd forms, other schemes than http and https) are allowed by no rule; a deny
// holds for every host they may name. See [HostOf].
//
// A deny or ask speaks of every access to the network, curl's in a shell too; an
// allow of the tool it names, as what is fetched to be read is not what is sent.
// Other tools that say which field is a host take the same form.
//
// This machine, private and link-local networks and metadata services are refused
// to tools, whatever allows the tool, unless an allow rule names the host; simple
// commands that reach them ask.
//
// # Fields
//
// Tool(param:value) holds back calls whose input has that field with that value: a
// text, a number or true, false and null, or a list with it. A star stands for
// anything, \* for itself. The field must be one of the tool's and not what its
// rules match anyway; where a rule has two readings, both hold.
//
// # What is wrong with a rule
//
// A rule that cannot be understood grants nothing. A malformed deny or ask is an
// error of [Compile], a malformed allow a [Warning]. Where only the part in
// parentheses is not understood, an allow grants nothing and a deny or ask binds
// the whole tool, with a warning.
//
// A rule may carry examples ([RuleText]): calls it is to match, and calls it is
// not to match, such as "Bash(git push origin)", or "git push origin" alone. A
// relative path is in the working directory. A rule that fails its examples is a
// malformed one.
package permissions
