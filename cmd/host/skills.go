package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/visible"
)

func skillsCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "skills",
		Short: "List the skills that models may load, and check some",
		Long: `Skills are instructions that a model loads by the tool Skill when it needs them:
folders NAME/SKILL.md of the Agent Skills format, and older commands/NAME.md. They are
looked for, the weightiest first, in your configuration directory, in .toolquay and
.claude of a trusted project, in ~/.claude, in the folders of plugins, and among the
prompts of MCP servers. Of two with one name the weightier has it, and the other is
called as SOURCE:NAME. Loading a skill runs nothing and allows nothing.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listSkills(cmd.Context(), a, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	list := &cobra.Command{
		Use:   "list",
		Short: "List every skill that was found, those that are not offered too",
		Args:  cobra.NoArgs,
		RunE:  cmd.RunE,
	}
	list.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(list, skillsCheckCommand(a))
	return cmd
}

// skillLine is a skill as it is listed.
type skillLine struct {
	Name        string   `json:"name"`
	Source      string   `json:"source"`
	State       string   `json:"state"`
	Description string   `json:"description,omitempty"`
	Arguments   string   `json:"arguments,omitempty"`
	Path        string   `json:"path,omitempty"`
	Proposes    []string `json:"proposes,omitempty"`
	ShadowedBy  string   `json:"shadowed_by,omitempty"`
	Faults      []string `json:"faults,omitempty"`
}

// The states of a skill.
const (
	skillOffered   = "offered"
	skillHidden    = "not for models"
	skillUntrusted = "not trusted"
	skillNot       = "not offered"
)

func lineOfSkill(s *host.FoundSkill, trusted bool) skillLine {
	l := skillLine{
		Name: s.Name, Source: s.Label, State: skillOffered, Description: s.Description, Arguments: s.Hint,
		Path: s.Path, Proposes: s.Tools, ShadowedBy: s.ShadowedBy,
	}
	for _, f := range s.Faults {
		l.Faults = append(l.Faults, f.Error())
	}
	switch problem := s.Problem(); {
	case problem != nil:
		l.State = skillNot
		if len(l.Faults) == 0 {
			l.Faults = append(l.Faults, problem.Error())
		}
	case !trusted:
		l.State = skillUntrusted
	case s.Hidden:
		l.State = skillHidden
	}
	return l
}

func listSkills(ctx context.Context, a *app, asJSON bool) error {
	o, err := a.open(ctx, nil)
	if err != nil {
		return err
	}
	defer o.close()
	lines := []skillLine{}
	found, problems := o.host.Skills()
	for _, s := range found {
		lines = append(lines, lineOfSkill(s, true))
	}
	for _, s := range untrustedSkills(a, &o.setup) {
		lines = append(lines, lineOfSkill(s, false))
	}
	if asJSON {
		report := struct {
			Skills   []skillLine `json:"skills"`
			Problems []string    `json:"problems"`
		}{lines, []string{}}
		for _, p := range problems {
			report.Problems = append(report.Problems, problemOfSkills(&p))
		}
		return a.printJSON(report)
	}
	printSkills(a, lines)
	for _, p := range problems {
		a.out.Printf("%s\n", problemOfSkills(&p))
	}
	return nil
}

// untrustedSkills are those of the project, where it is not trusted.
func untrustedSkills(a *app, s *setup) []*host.FoundSkill {
	if s.project.Trusted || a.flags.noProject {
		return nil
	}
	found, _ := host.FindSkills(s.project.SkillSources(s.dirs))
	return found
}

func problemOfSkills(p *host.SkillProblem) string {
	return fmt.Sprintf("the skills of %s (%s): %s", p.Label, visible.Line(p.Dir), visible.Line(p.Err.Error()))
}

func printSkills(a *app, lines []skillLine) {
	rows := [][]string{{"NAME", "SOURCE", "STATE", "PROPOSES", "PATH"}}
	untrusted := 0
	for _, l := range lines {
		rows = append(rows, []string{orDash(l.Name), l.Source, l.State, orDash(strings.Join(l.Proposes, ", ")), orDash(l.Path)})
		if l.State == skillUntrusted {
			untrusted++
		}
	}
	a.out.Table(rows)
	for _, l := range lines {
		if l.ShadowedBy != "" {
			a.out.Printf("%s gives way to a skill of %s, and is called with its source's name\n", visible.Line(l.Name), l.ShadowedBy)
		}
		for _, fault := range l.Faults {
			a.out.Printf("%s (%s): %s\n", visible.Line(l.Name), visible.Line(orDash(l.Path)), fault)
		}
	}
	if untrusted > 0 {
		a.out.Printf("The project is not trusted, so its skills are not offered (%d); toolquay trust shows and trusts them.\n", untrusted)
	}
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func skillsCheckCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check PATH...",
		Short: "Hold skills to their format, with line numbers",
		Long: `Check reads skills whole and runs nothing. A PATH is a skill's folder, its SKILL.md, a
command's file, or a folder of skills. It ends with 1 where a skill cannot be loaded;
where it is only not of the format, it is loaded all the same.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return checkSkills(a, args, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func checkSkills(a *app, paths []string, asJSON bool) error {
	type checkedSkill struct {
		Name   string      `json:"name"`
		Path   string      `json:"path"`
		OK     bool        `json:"ok"`
		Faults []faultLine `json:"faults"`
	}
	list, ok := []checkedSkill{}, true
	for _, path := range paths {
		found, err := host.CheckSkills(path)
		if err != nil {
			return usageError("%w", err)
		}
		for _, s := range found {
			c := checkedSkill{Name: s.Name, Path: s.Path, OK: s.Problem() == nil, Faults: []faultLine{}}
			for _, f := range s.Faults {
				c.Faults = append(c.Faults, faultLine{f.Line, f.Fatal, f.Text, f.Error()})
			}
			list, ok = append(list, c), ok && c.OK
		}
	}
	if asJSON {
		if err := a.printJSON(list); err != nil {
			return err
		}
	} else {
		for _, c := range list {
			outcome := "ok"
			if !c.OK {
				outcome = "cannot be loaded"
			}
			a.out.Printf("%s (%s): %s\n", visible.Line(c.Name), visible.Line(c.Path), outcome)
			for _, f := range c.Faults {
				a.out.Printf("%s\n", indent(f.shown))
			}
		}
	}
	if !ok {
		return quiet(exitFailed)
	}
	return nil
}

// faultLine is a fault as it is printed.
type faultLine struct {
	Line  int    `json:"line,omitempty"`
	Fatal bool   `json:"fatal"`
	Text  string `json:"text"`
	shown string
}
