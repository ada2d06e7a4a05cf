package gitconfig

import (
	"slices"
	"strings"
)

// judge judges what a command changed in a repository's configuration.
type judge struct {
	// writable are the directories that commands write in.
	writable []string
	// now is the configuration as it is, and taken are the changes that pass.
	now   entries
	taken []change
}

// change is a key with other values than before, none of them if it was removed.
type change struct {
	key           string
	before, after []string
}

// changes lists what differs between two configurations: what was removed, then the rest in
// its order.
func changes(before, after entries) []change {
	var out []change
	for _, key := range slices.Concat(before.keys(), after.keys()) {
		was, is := before.values(key), after.values(key)
		known := slices.ContainsFunc(out, func(c change) bool { return c.key == key })
		if !known && !slices.Equal(was, is) {
			out = append(out, change{key, was, is})
		}
	}
	return out
}

// judge sorts changes. Refused are the keys that are protected, or may not have the value that
// they got; kept are those that somebody else changed meanwhile. A section with a name, such
// as a remote, changes as a whole or not at all.
func (j *judge) judge(all []change) (refused, kept []string) {
	groups := make(map[string][]change)
	var order []string
	for _, c := range all {
		name := c.group()
		if groups[name] == nil {
			order = append(order, name)
		}
		groups[name] = append(groups[name], c)
	}
	// Branches may belong to remotes that are as new as they are.
	slices.SortStableFunc(order, func(a, b string) int { return rank(a) - rank(b) })
	for _, name := range order {
		group := groups[name]
		group = slices.DeleteFunc(group, func(c change) bool { return slices.Equal(j.now.values(c.key), c.after) })
		switch {
		case slices.ContainsFunc(group, func(c change) bool { return !j.passes(&c) }):
			refused = append(refused, keysOf(group)...)
		case slices.ContainsFunc(group, func(c change) bool { return !slices.Equal(j.now.values(c.key), c.before) }):
			kept = append(kept, keysOf(group)...)
		default:
			j.taken = append(j.taken, group...)
		}
	}
	return refused, kept
}

func rank(group string) int {
	if strings.HasPrefix(group, "remote.") {
		return 0
	}
	return 1
}

// group names what the key changes together with.
func (c *change) group() string {
	k := keyOf(c.key)
	if !k.named {
		return c.key
	}
	return k.section + "." + k.name + "."
}

func keysOf(all []change) []string {
	out := make([]string, 0, len(all))
	for _, c := range all {
		out = append(out, c.key)
	}
	return out
}

// passes reports whether a change is one that commands may make.
func (j *judge) passes(c *change) bool {
	k := keyOf(c.key)
	rule := k.rule()
	if rule == nil || k.places() && j.knows(k) {
		return false
	}
	return !slices.ContainsFunc(c.after, func(value string) bool { return !rule(j, k, value) })
}

// places reports whether the key says where a remote or submodule is. Where those are that
// there are is the person's to change: what is pushed would go elsewhere.
func (k key) places() bool { return k.named && (k.last == "url" || k.last == "pushurl") }

// knows reports whether the configuration says where the remote or submodule of a key is.
func (j *judge) knows(k key) bool {
	return slices.ContainsFunc(j.now, func(e entry) bool {
		other := keyOf(e.key)
		return other.places() && other.section == k.section && other.name == k.name
	})
}

// has reports whether there is a remote of a name.
func (j *judge) has(remote string) bool {
	url := "remote." + remote + ".url"
	return len(j.now.values(url)) > 0 || slices.ContainsFunc(j.taken, func(c change) bool { return c.key == url && len(c.after) > 0 })
}
