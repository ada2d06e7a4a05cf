// Package modelschema writes the input schemas of tools the way model APIs take
// them. An API refuses the whole request where one schema breaks its rules, so
// everything doubtful is left out, and said in words instead. What is left out is
// still enforced when a call comes: the host validates inputs against the tool's own
// schema.
package modelschema
