// Package grants keeps what a person allowed beyond a single call: for the rest
// of a session, in a project, or everywhere. A grant is one allow rule with an
// end, and can be listed and revoked while sessions run, also by another process:
//
//	list, err := grants.Open("/home/u/.local/state/toolquay/grants.json")
//	grant, err := list.Add(grants.Grant{Rule: "Read(//etc/hosts)", Scope: grants.ScopeUser}, time.Now())
//	...
//	view := list.View(session, project, time.Now())
//	policy, warnings, err := base.WithRules(view.Rules)
//
// and before each decision, at the cost of one stat:
//
//	if list.Stale(view, time.Now()) { ... }
//
// Grants for a session are kept in memory and end with the process; the others
// are in one file of the user's. What is wrong with that file makes it grant
// nothing, and View.Err say so: deny and ask rules are not in it, so nothing is
// loosened by that.
package grants
