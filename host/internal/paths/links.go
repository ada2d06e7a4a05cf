package paths

import (
	"errors"
	"io"
	"os"
	"path"

	"github.com/toolquay/toolquay/permissions"
)

// errTooMany means that a search came to the end of its budget of names.
var errTooMany = errors.New("there are more names than are looked at")

// accessTo is the access of naming a file or following a link. A link may lead to a
// directory, and the command may go into it.
func (d Disk) accessTo(kind permissions.AccessKind, name string) permissions.Access {
	a := permissions.Access{Kind: kind, Target: name, Real: d.OfCommand(name)}
	info, err := os.Stat(d.Place(name))
	a.Tree = err != nil || info.IsDir()
	return a
}

// linksBelow lists the links below a directory and below the directories that they lead
// to: those that a program meets that walks the tree and follows links. It fails where
// there are more names than the budget.
func (d Disk) linksBelow(dir string, budget *int) ([]string, error) {
	var links []string
	seen := map[string]bool{}
	for dirs := []string{dir}; len(dirs) > 0; {
		at := dirs[0]
		dirs = dirs[1:]
		actual := d.OfCommand(at)
		if seen[actual] {
			continue
		}
		if seen[actual] = true; Below(actual, procDir) {
			return nil, errTooMany // links in there lead to places without a name
		}
		entries, err := d.entriesOf(at, budget)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			name := path.Join(at, e.Name())
			switch {
			case e.IsDir():
				dirs = append(dirs, name)
			case e.Type()&os.ModeSymlink != 0:
				links = append(links, name)
				if d.accessTo(permissions.AccessRead, name).Tree {
					dirs = append(dirs, name)
				}
			}
		}
	}
	return links, nil
}

// entriesOf lists a directory and takes its entries off the budget. A directory that cannot
// be read has none.
func (d Disk) entriesOf(dir string, budget *int) ([]os.DirEntry, error) {
	dir = d.Place(dir)
	info, err := os.Stat(dir) // opening a FIFO would block
	if err != nil || !info.IsDir() {
		return nil, nil // a command finds nothing there either
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	entries, err := f.ReadDir(*budget + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil
	}
	if *budget -= len(entries); *budget < 0 {
		return nil, errTooMany
	}
	return entries, nil
}
