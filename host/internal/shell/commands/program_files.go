package commands

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/permissions"
)

// interpreters are programs whose first argument that is a file is what they run.
var interpreters = lazyregexp.New(`^(?:node|nodejs|bun|deno|tsx|ts-node|python[0-9.]*|pypy[0-9.]*|ruby|perl|php|java|dotnet|lua|Rscript|bash|sh|zsh)$`)

// packageMarks are files in the top directory of what belongs to one program.
var packageMarks = []string{"package.json", "pyproject.toml", "setup.py", "requirements.txt", "pyvenv.cfg", "deno.json", "deno.jsonc", "Gemfile", "composer.json"}

// own are the files and directories that the program consists of: its file, the script that an
// interpreter is to run, and the packages that they lie in, as far as no rule hides them.
func (s *starting) own(rules *permissions.SandboxPolicy) (out []string) {
	view := s.runner.options.base(true)
	for _, file := range []string{s.path, s.script()} {
		for _, at := range slices.Compact([]string{file, paths.Real(file)}) {
			if at == "" || slices.ContainsFunc(view, func(dir string) bool { return paths.Below(at, dir) }) {
				continue
			}
			out = append(out, at)
			out = append(out, s.packageOf(at)...)
		}
	}
	return slices.DeleteFunc(out, func(path string) bool { return rules.Hides(paths.Real(path)) })
}

// script is the file that an interpreter is to run; empty is none.
func (s *starting) script() string {
	if !interpreters.MatchString(filepath.Base(s.path)) {
		return ""
	}
	for _, arg := range s.Command[1:] {
		if !filepath.IsAbs(arg) && s.Dir != "" {
			arg = filepath.Join(s.Dir, arg)
		}
		if info, err := os.Stat(arg); filepath.IsAbs(arg) && err == nil && info.Mode().IsRegular() {
			return filepath.Clean(arg)
		}
	}
	return ""
}

// packageOf are the directories of the package that a file lies in. Of a home or a project, which
// may be packages too, it is only the packages that are installed there.
func (s *starting) packageOf(file string) (out []string) {
	const installed = "node_modules"
	if before, _, ok := strings.Cut(file, "/"+installed+"/"); ok {
		out = append(out, before+"/"+installed)
	}
	holds := func(dir string) bool {
		around := func(inner string) bool { return inner != "" && paths.Below(paths.Real(inner), dir) }
		return around(s.runner.options.Sandbox.Home) || around(s.runner.options.Project)
	}
	for dir := filepath.Dir(file); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if holds(dir) {
			return append(out, filepath.Join(dir, installed))
		}
		marked := func(name string) bool {
			_, err := os.Lstat(filepath.Join(dir, name))
			return err == nil
		}
		if slices.ContainsFunc(packageMarks, marked) {
			return append(out, dir)
		}
	}
	return out
}
