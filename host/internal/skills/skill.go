package skills

import (
	"context"
	"strconv"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/visible"
)

// The bounds of a skill. Those of names and descriptions are the format's.
const (
	// MaxFile is the largest file that is read, in bytes.
	MaxFile = 10 << 20
	// maxMatter is the longest front matter, in bytes.
	maxMatter = 64 << 10
	// maxName and maxDescription are in code points, and maxHint is what is shown of a hint.
	maxName        = 64
	maxDescription = 1024
	maxHint        = 200
	// maxTools bounds the proposals of a skill, and maxTool the bytes of one.
	maxTools = 50
	maxTool  = 500
)

// Skill is one skill as it was found.
type Skill struct {
	// Name is the one by which it is called and listed: unique in its set. Own is its name
	// apart from where it lies, and Label names the source; Label:Own calls it too.
	Name, Own, Label string
	// Description says what it is for, in one line, and Hint which arguments it takes.
	Description, Hint string
	// Tools are the rules that it proposes by allowed-tools. Nothing follows from them.
	Tools []string
	// Hidden says that a model may not load it.
	Hidden bool
	// Path is its file, and Dir the folder that belongs to it, absolute; both are empty where
	// it lies in no directory, and Dir is for a command.
	Path, Dir string
	// Server is the MCP server whose prompt it is, and Prompt that one's own name for it; empty is
	// none.
	Server, Prompt string
	// Faults are what is wrong with it, in the order of its lines.
	Faults []Fault
	// ShadowedBy is the source of the skill that has its own name; empty where it has that.
	ShadowedBy string

	file    *file    // nil for a provided one
	fetched Fetch    // of a provided one
	stands  standing // whether it may be offered
}

// standing says whether a skill may be offered.
type standing struct {
	refused error // by its source
	broken  bool  // by its faults
}

// Fetch returns the text of a skill that lies in no file.
type Fetch func(ctx context.Context, args string) (string, error)

// Problem is why the skill is not offered; nil where it is.
func (s *Skill) Problem() error {
	if s.stands.refused != nil {
		return s.stands.refused
	}
	if s.stands.broken {
		return firstFault(s.Faults)
	}
	return nil
}

// hides is why a model is not given a hidden skill.
func (s *Skill) hides() error {
	return abi.Errorf(abi.CodeDisabled, "the skill %s is not for models: its front matter says disable-model-invocation", s.Name)
}

// Qualified is the name with which the source is named.
func (s *Skill) Qualified() string {
	if s.Server != "" {
		return s.Name
	}
	return s.Label + ":" + s.Own
}

// Fault is something wrong with a skill.
type Fault struct {
	// Line is 1-based; 0 is the file as a whole.
	Line int
	Text string
	// Fatal says that the skill cannot be used; others are warnings.
	Fatal bool
}

// Error returns "line 3: the description is empty".
func (f Fault) Error() string {
	if f.Line == 0 {
		return visible.Line(f.Text)
	}
	return "line " + strconv.Itoa(f.Line) + ": " + visible.Line(f.Text)
}

// firstFault is the first fatal one, or nil.
func firstFault(faults []Fault) error {
	for _, f := range faults {
		if f.Fatal {
			return f
		}
	}
	return nil
}
