package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// TestCommandsOnKernelFiles judges commands that name paths of the kernel's: what opening
// does nothing is no access, what a process has open asks whatever allows, and the rest is
// like other files.
func TestCommandsOnKernelFiles(t *testing.T) {
	t.Parallel()
	const run, ask, no = permissions.Allow, permissions.Ask, permissions.Deny
	links := t.TempDir()
	must(t, os.Symlink("/proc/self/root", filepath.Join(links, "root")))
	const allow = "Bash(cat *) | Bash(ls *) | Bash(echo *) | Bash(head *)"
	judge := func(mode permissions.Mode, rules []permissions.RuleSet) func(command string) permissions.Decision {
		h := open(t, host.Options{Builtins: true, Paths: host.PathOptions{Home: t.TempDir()}, Shell: &host.Shell{}, Permissions: host.PermissionOptions{Rules: rules}})
		s := session(t, h, host.SessionOptions{Mode: mode, Asker: yes()})
		return func(command string) permissions.Decision {
			x, err := s.Explain(t.Context(), bash("1", command))
			must(t, err)
			return x.Decision
		}
	}
	plain, ruled := judge(permissions.ModeDefault, nil), judge(permissions.ModeDefault, rules("", "", allow))
	bypass := judge(permissions.ModeBypass, nil)
	denied := judge(permissions.ModeBypass, rules("Read(//proc/**) | Edit(//dev/**)", "", allow))
	for _, test := range []struct {
		command string
		plain   permissions.Verdict // in the mode default
		rule    permissions.Verdict // with the rules below
		bypass  permissions.Verdict
		denied  permissions.Verdict // with that and a rule that denies Read(//proc/**) and Edit(//dev/**)
	}{
		{"cat /dev/null /dev/stdin", run, run, run, run},
		{"head -c 300 /dev/urandom", run, run, run, run},
		{"echo hi > /dev/stderr", run, run, run, run},
		{"cat x 2> /dev/full", run, run, run, run},
		{"cat /dev/zero", ask, run, run, run},
		{"cat /proc/cpuinfo", ask, run, run, no},
		{"cat /proc/self/status", ask, run, run, no},
		{"cat /sys/kernel/mm/transparent_hugepage/enabled", ask, run, run, run},
		{"ls /proc", ask, run, run, no},
		{"cat /proc/self/environ", ask, ask, run, no},
		{"cat /proc/1/environ", ask, ask, run, no},
		{"cat /dev/sda", ask, ask, run, run},
		{"echo x > /dev/sda", ask, ask, run, no},
		{"cat /proc/self/root/etc/passwd", ask, ask, ask, no},
		{"cat /proc/self/cwd/x", ask, ask, ask, no},
		{"cat /proc/1/task/1/root/etc/passwd", ask, ask, ask, no},
		{"cat /proc/1/map_files/x", ask, ask, ask, no},
		{"ls /proc/self/exe", ask, ask, ask, no},
		{"cat /dev/fd/../root/etc/passwd", ask, ask, ask, ask},
		{"cat /proc/self/root/../etc/passwd", ask, ask, ask, no},
		{"cat /proc/1*/root/etc/passwd", ask, ask, ask, no},
		{"ls -R /proc", ask, ask, ask, no},
		{"cat /dev/fd/3/etc/passwd 3< /", ask, ask, ask, ask},
		{"cat " + links + "/root/etc/passwd", ask, ask, ask, ask},
	} {
		for _, with := range []struct {
			name  string
			judge func(command string) permissions.Decision
			want  permissions.Verdict
		}{
			{"no rule", plain, test.plain},
			{"a rule", ruled, test.rule},
			{"bypassPermissions", bypass, test.bypass},
			{"a deny rule", denied, test.denied},
		} {
			if d := with.judge(test.command); d.Verdict != with.want {
				t.Errorf("%s, with %s: %s, want %s (%s)", test.command, with.name, d.Verdict, with.want, d.Reason())
			}
		}
	}
}

// TestKernelFilesApproved has a person's yes be enough, and what is harmless run unasked.
func TestKernelFilesApproved(t *testing.T) {
	t.Parallel()
	h := newShelled(t, func(o *host.Options) { o.Permissions.Rules = nil })
	for _, test := range []struct {
		command, want string
		asked         int32
	}{
		{"head -c 300 /dev/urandom | wc -c", "300", 0},
		{"echo hi > /dev/stderr", "hi", 0},
		{"echo a | cat /dev/stdin", "a", 0},
		{"echo x 2> /dev/full", "x", 0},
		{"diff <(echo a) <(echo a) && echo same", "same", 0},
		{"head -n 1 /proc/cpuinfo | wc -l", "1", 1},
		{"head -c 4 /dev/zero | wc -c", "4", 0},
		{"head -n 1 /proc/self/status", "Name:", 1},
		{"readlink /proc/self/cwd", "/", 1},
		{"cat /proc/self/environ | wc -l", "0", 1},
	} {
		t.Run(test.command, func(t *testing.T) {
			t.Parallel()
			person := yes()
			s := session(t, h.Host, host.SessionOptions{Cwd: t.TempDir(), Asker: person})
			if got := told(t, s, test.command); !strings.Contains(got, test.want) || person.asked.Load() != test.asked {
				t.Errorf("asked %d times, want %d: %s", person.asked.Load(), test.asked, got)
			}
		})
	}
}

// TestToolsOnKernelFiles has the host itself open none of them, whoever allows it.
func TestToolsOnKernelFiles(t *testing.T) {
	t.Parallel()
	h := open(t, host.Options{Builtins: true, Paths: host.PathOptions{Home: t.TempDir()}, Permissions: host.PermissionOptions{Rules: rules("", "", "Read, Write")}})
	s := session(t, h, host.SessionOptions{Mode: permissions.ModeBypass, Asker: yes()})
	for _, path := range []string{"/proc/cpuinfo", "/dev/urandom", "/dev/stdin", "/sys/kernel/mm"} {
		for tool, input := range map[string]string{"Read": `{"file_path":%q}`, "Write": `{"file_path":%q,"content":"x"}`} {
			if r, _ := one(t, s, tool, fmt.Sprintf(input, path)); !r.IsError {
				t.Errorf("%s %s: %s", tool, path, r.Text())
			}
		}
	}
}
