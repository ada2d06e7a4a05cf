package abi

// CapSessionSkill loads a skill: instructions for the model. It takes [SkillArgs]; the answer's head
// is [SkillOK], and its body the text of the skill. A plugin's tools cannot be granted it.
const CapSessionSkill = "session.skill"

// SkillArgs are the arguments of session.skill.
type SkillArgs struct {
	// Skill is a name that a skill is called by.
	Skill string `json:"skill"`
	// Args are put into its text.
	Args string `json:"args,omitempty"`
}

// SkillOK is the answer to session.skill.
type SkillOK struct {
	// Name is the one that the skill is listed by, and Source names where it was found.
	Name   string `json:"name"`
	Source string `json:"source"`
	// Dir is the folder that belongs to it, whose files may be read from now on as far as no rule
	// holds them back, and Path its file. Both are absolute, and empty where there is none.
	Dir  string `json:"dir,omitempty"`
	Path string `json:"path,omitempty"`
	// Chars is how many characters the skill has, of which the body has the first 100,000.
	Chars int `json:"chars"`
	// Proposed are the rules that the skill would have, and Allowed those of them that the person
	// allowed for the session. Message is what they said instead.
	Proposed []string `json:"proposed,omitempty"`
	Allowed  []string `json:"allowed,omitempty"`
	Message  string   `json:"message,omitempty"`
}
