package host

import "github.com/toolquay/toolquay/host/internal/judge"

// These types are the judge: a model that is asked, in the mode auto, about calls that
// the rules leave open. It allows or leaves the question to a person; it never denies.
type (
	// JudgeOptions configure the judge of each session, see [PermissionOptions.Judge].
	JudgeOptions = judge.Options
	// JudgeModel is a language model that answers prompts with JSON.
	JudgeModel = judge.Model
	// JudgePrompt is one question to a model, with the schema of its answer.
	JudgePrompt = judge.Prompt
)
