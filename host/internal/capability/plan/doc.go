// Package plan answers session.plan, which enters the mode plan and leaves it when the person
// accepts the plan, and session.question, which asks the person to choose.
//
// It keeps nothing: the mode, the plan file and the person are the session's, and are handed in.
// Nothing that a model says becomes a rule. Rules come from the person's answer alone.
package plan
