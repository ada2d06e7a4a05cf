package permissions

import "time"

// reading is what rules are read with.
type reading struct {
	aliases map[string]string
	tools   tools
	// analyse reads the commands of examples; it may be nil.
	analyse func(string) Command
	// project is what patterns with one leading slash in rules of the project are
	// relative to.
	project Dir
	// resolveDirectory resolves the directories of rule sets; nil resolves nothing.
	resolveDirectory func(string) string
	// only lets none but the rules of policy allow.
	only bool
	now  time.Time
}

func newReading(s *Setup) reading {
	r := reading{
		aliases: aliases(s), tools: newTools(s.Tools), analyse: s.Analyse, project: s.ProjectRoot,
		resolveDirectory: s.ResolveDirectory, only: s.OnlyPolicyRules, now: s.Now,
	}
	if r.resolveDirectory == nil {
		r.resolveDirectory = s.Resolve
	}
	if r.project.Path == "" {
		r.project = s.Cwd
	}
	return r
}
