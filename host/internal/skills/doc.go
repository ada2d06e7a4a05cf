// Package skills finds and reads skills: instructions for a model, which it loads when it needs
// them.
//
//	set := skills.Load([]skills.Source{{Label: "user", Dir: dir}})
//	skill, err := set.Find("pdf")
//	loaded, err := skill.Load(ctx, "report.pdf")
//
// # Formats
//
// A skill is a folder of the open Agent Skills format (https://agentskills.io/specification): a
// file SKILL.md of YAML front matter and Markdown, and whatever else lies beside it. The older
// form is one file commands/NAME.md, or commands/DIR/NAME.md for DIR:NAME. Of the front matter
// name, description, license, compatibility, metadata and allowed-tools are held to that format,
// argument-hint and disable-model-invocation are heeded, and other keys are passed by.
//
// Skills in the field break the format in small ways, and are meant to work. So what can be
// used is used, with a [Fault] that is a warning; a skill with another fault is not offered.
//
// # What loading does
//
// Loading returns text. It puts arguments in, and nothing else: no command is run, no other
// file is read, whatever the text says. Files are read through links that stay in their source,
// or in a project, in that project; never from pipes and devices; never more than [MaxFile].
//
// A [Set] is immutable. Only the beginning of each file is read for it; a skill is read again
// when it is loaded, so that what is loaded is what the file says then.
package skills
