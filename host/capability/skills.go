package capability

import "context"

// Skills are those that a session's model may load. They are safe for concurrent use.
type Skills interface {
	// Find returns a skill by a name that it is called by. The errors are of abi.CodeNotFound,
	// with near names, and of abi.CodeDisabled where it cannot be loaded. Skills that a rule denies
	// are not found.
	Find(name string) (Skill, error)
	// Grantable are those of proposed rules that a person could allow for the session: they can be
	// read, do not hold yet, were not declined before, and answers are remembered here.
	Grantable(proposed []string) []string
	// Allow adds allow rules that the person gave to the session.
	Allow(rules []string) error
	// Decline has the session propose rules no more.
	Decline(rules []string)
	// Open lets files below a directory be read without asking until the session ends, as far as no
	// rule holds them back.
	Open(dir string) error
}

// Skill is one skill that a model loads.
type Skill interface {
	// FromServer reports whether an MCP server is asked for it.
	FromServer() bool
	// Load reads it as it is now, with arguments put in.
	Load(ctx context.Context, args string) (SkillText, error)
}

// SkillText is what was read of a [Skill].
type SkillText struct {
	// Name is the one that it is listed by, and Source names where it was found.
	Name, Source string
	// Dir is the folder that belongs to it and Path its file, absolute; both may be empty.
	Dir, Path string
	// Tools are the rules that it proposes. Nothing follows from them.
	Tools []string
	// Text is what the model is to read, and Chars how many code points there are in all, which
	// may be more than are in Text.
	Text  string
	Chars int
}
