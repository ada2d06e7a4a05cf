package permissions

// MainAgent is the agent that works for the person directly.
const MainAgent = "main"

// Caller says who makes the calls of a turn: an agent, perhaps below a call that runs. No rule
// depends on it; events, logs, hooks and questions name it.
type Caller struct {
	// Agent is the agent's id, or [MainAgent].
	Agent string `json:"agent,omitempty"`
	// Team is the team that the agent belongs to; empty for none.
	Team string `json:"team,omitempty"`
	// Chain is common to all agents that work for one conversation.
	Chain string `json:"chain,omitempty"`
	// Parent is the id of the call that made these, and Depth counts the calls above them, in
	// all sessions; empty and 0 for calls that no other call made.
	Parent string `json:"parent,omitempty"`
	Depth  int    `json:"depth,omitempty"`
}
