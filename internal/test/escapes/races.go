//go:build linux

package escapes

import "fmt"

// Races are cases that make protected names in the working directory again and again, by
// three threads as fast as these can. None of them ends by itself.
func Races() []Case {
	var list []Case
	for _, do := range []string{
		"write, write, write", "write, rename, away", "folder, aside, folder", "link, hard, unlink", "chain, chain, swap",
		"write, folder, close", "folder, chain, link",
	} {
		list = append(list, Case{Name: do, Shell: fmt.Sprintf(racer, do)})
	}
	return list
}

// racer is a program with three threads. What they do is inserted.
const racer = `python3 -c '
import os, threading
def loop(do):
    while True:
        try: do()
        except OSError: pass
def write():
    with open(".npmrc", "w") as f: f.write("x")
def rename():
    with open("n", "w") as f: f.write("x")
    os.rename("n", ".npmrc")
def away(): os.rename(".npmrc", "n2")
def folder():
    os.makedirs("v", exist_ok=True)
    open("v/tasks.json", "w").close()
    os.rename("v", ".vscode")
def aside(): os.rename(".vscode", "v")
def link(): os.symlink("f", ".bashrc")
def hard(): os.link("f", ".bashrc")
def unlink(): os.unlink(".bashrc")
def chain():
    os.makedirs(".claude/x", exist_ok=True)
    open(".claude/settings.json", "w").close()
def swap():
    os.rename(".claude", "c"); os.rename("c", ".claude")
here = os.open(".", os.O_RDONLY)
def close():
    os.fchmod(here, 0); os.fchmod(here, 0o755)
for do in [%s]: threading.Thread(target=loop, args=(do,)).start()
'`
