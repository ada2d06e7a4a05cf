package host_test

import (
	"fmt"
	"log"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// What two commands would do, and what a policy says to them.
func ExampleAnalyseCommand() {
	rules := permissions.RuleSet{Source: permissions.SourceUser, Allow: permissions.RuleTexts("Bash(cat *)"), Deny: permissions.RuleTexts("Edit(copy)")}
	policy, _, err := permissions.Compile(permissions.Setup{
		Layout: permissions.Layout{Cwd: permissions.Dir{Path: "/src/tool"}, Home: permissions.Dir{Path: "/home/me"}},
		Rules:  []permissions.RuleSet{rules},
	})
	if err != nil {
		log.Panic(err)
	}
	for _, text := range []string{"cat go.mod", "cat go.mod > copy"} {
		command := host.AnalyseCommand(abi.ShellBash, text, host.CommandPlace{Cwd: "/src/tool", Home: "/home/me"})
		command.Resolve(func(path string) string { return path }) // no links are followed
		accesses := command.Accesses()
		decision := permissions.Decide(policy, permissions.Request{
			Tool: "Bash", Commands: []permissions.Command{command}, Accesses: accesses, Effects: permissions.EffectsListed,
		}, permissions.Evidence{})
		for _, a := range accesses {
			fmt.Println(a.Kind, a.Target)
		}
		fmt.Println(decision.Verdict, decision.Reason())
	}
	// Output:
	// exec cat go.mod
	// fs.read /src/tool/go.mod
	// allow the allow rule Bash(cat *) (user)
	// exec cat go.mod > copy
	// fs.read /src/tool/go.mod
	// fs.write /src/tool/copy
	// deny the deny rule Edit(copy) (user)
}
