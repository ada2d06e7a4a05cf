// Package tools answers tools.list: which tools a model knows by name alone, for
// the tool that looks among them.
//
// It touches nothing but the session. What it lists is what the session offers
// its model at that moment, so that a tool that is denied as a whole, or is not
// for this kind of agent, cannot be found either.
package tools
