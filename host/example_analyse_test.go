package host_test

import (
	"fmt"
	"log"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// What a command would do, and what a policy says to it.
func ExampleAnalyseCommand() {
	command := host.AnalyseCommand(abi.ShellBash, "cat go.mod > copy", host.CommandPlace{Cwd: "/src/tool", Home: "/home/me"})
	command.Resolve(func(path string) string { return path }) // no links are followed
	for _, a := range command.Accesses() {
		fmt.Println(a.Kind, a.Target)
	}

	rules := permissions.RuleSet{Source: permissions.SourceUser, Allow: permissions.RuleTexts("Bash(cat *)"), Deny: permissions.RuleTexts("Edit(copy)")}
	policy, _, err := permissions.Compile(permissions.Setup{
		Layout: permissions.Layout{Cwd: permissions.Dir{Path: "/src/tool"}, Home: permissions.Dir{Path: "/home/me"}},
		Rules:  []permissions.RuleSet{rules},
	})
	if err != nil {
		log.Panic(err)
	}
	decision := permissions.Decide(policy, permissions.Request{
		Tool: "Bash", Commands: []permissions.Command{command}, Accesses: command.Accesses(),
	}, permissions.Evidence{})
	fmt.Println(decision.Verdict, decision.Reason())
	// Output:
	// exec cat go.mod > copy
	// fs.read /src/tool/go.mod
	// fs.write /src/tool/copy
	// deny the deny rule Edit(copy) (user)
}
