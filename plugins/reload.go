package plugins

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
)

// Changes is what a reload found, each list by name.
type Changes struct {
	// Added and Changed are plugins of the newer set, Removed of the older one.
	// Changed are those whose files are not as they were, and those that another
	// plugin came to be, or ceased to be, in the way of.
	Added, Changed, Removed []*Plugin
	// Problems are those among Added and Changed that cannot be used.
	Problems []*Plugin
}

// None reports whether everything is as it was.
func (c Changes) None() bool { return len(c.Added)+len(c.Changed)+len(c.Removed) == 0 }

// Reload looks through the sources again, and reads the grants
// again. It returns a newer set, which is what a fresh start would find, and what
// is different in it. Plugins that are the same, byte for byte, are shared with
// the older set, with all that is loaded of them.
//
// A plugin whose new files are broken is broken in the newer set. Its former manifest and
// grant do not count for it.
//
// The older set stays as it is for its holders, until they release it (see
// [Set.Release]). With an error there is no newer set.
func (s *Set) Reload(ctx context.Context) (*Set, Changes, error) {
	err := context.Cause(ctx)
	if err == nil {
		err = s.lineage.options.Grants.refresh()
	}
	var found []*Plugin
	if err == nil {
		found, err = s.lineage.discover(s)
	}
	var newer *Set
	if err == nil {
		newer, err = s.lineage.add(found)
	}
	if err != nil {
		return nil, Changes{}, fmt.Errorf("reloading plugins: %w", err)
	}
	return newer, compare(s, newer), nil
}

func compare(older, newer *Set) Changes {
	before := make(map[spot]*Plugin, len(older.plugins))
	for _, p := range older.plugins {
		before[spotOf(p)] = p
	}
	var c Changes
	for _, p := range newer.plugins {
		at := spotOf(p)
		was, there := before[at]
		delete(before, at)
		switch {
		case was == p:
			continue
		case !there:
			c.Added = append(c.Added, p)
		default:
			c.Changed = append(c.Changed, p)
		}
		if p.problem != nil {
			c.Problems = append(c.Problems, p)
		}
	}
	c.Removed = slices.Collect(maps.Values(before))
	for _, list := range [][]*Plugin{c.Added, c.Changed, c.Removed, c.Problems} {
		slices.SortStableFunc(list, func(a, b *Plugin) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Path, b.Path))
		})
	}
	return c
}
