package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// kept writes the flags that a call is judged and run by, and the rules that came
// with its message, as a command line: for the call to be run again later.
func (f *globalFlags) kept(message []permissions.RuleSet) []string {
	var out []string
	list := func(name string, values []string) {
		for _, v := range values {
			out = append(out, "--"+name+"="+v)
		}
	}
	list("deny", f.deny)
	list("ask", f.ask)
	list("allow", f.allow)
	for _, set := range message {
		for _, r := range set.Deny {
			list("deny", []string{r.Text})
		}
		for _, r := range set.Ask {
			list("ask", []string{r.Text})
		}
	}
	for _, dir := range f.plugins {
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		list("plugins", []string{dir})
	}
	list("grant", f.grants)
	if f.isolation != "" {
		list("isolation", []string{f.isolation})
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"no-user", f.noUser}, {"no-project", f.noProject}, {"claude-settings", f.claude}} {
		if flag.set {
			out = append(out, "--"+flag.name)
		}
	}
	return out
}

// restore adds the flags that kept wrote to those that are given now. Of those given
// now only what tightens counts.
func (f *globalFlags) restore(flags []string) error {
	given := *f
	cmd := &cobra.Command{}
	f.register(cmd)
	if err := cmd.PersistentFlags().Parse(flags); err != nil {
		return err
	}
	f.deny = append(given.deny, f.deny...)
	f.ask = append(given.ask, f.ask...)
	if given.isolation == string(abi.IsolationProcess) {
		f.isolation = given.isolation
	}
	f.approval, f.logLevel, f.timeout = given.approval, given.logLevel, given.timeout
	f.scheduler, f.session, f.mode = given.scheduler, given.session, given.mode
	return nil
}
