//go:build !linux

package workspace

import (
	"io/fs"

	"github.com/toolquay/toolquay/abi"
)

// entriesAtOnce is how many entries are read at a time.
const entriesAtOnce = 1024

// read adds the next entries to a list, or returns io.EOF.
func (d *Dir) read(e *Entries) error {
	found, err := d.ReadDir(entriesAtOnce)
	for _, entry := range found {
		one := Entry{Name: entry.Name(), Kind: abi.KindOther}
		switch mode := entry.Type(); {
		case mode.IsRegular():
			one.Kind = abi.KindFile
		case mode.IsDir():
			one.Kind = abi.KindDirectory
		case mode&fs.ModeSymlink != 0:
			one.Kind = abi.KindSymlink
		}
		e.list = append(e.list, one)
	}
	if len(found) > 0 {
		err = nil // it comes again
	}
	return err
}
