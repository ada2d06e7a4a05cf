package history

// MaxPatched bounds a file that a patch tells of, in bytes.
const MaxPatched = maxPatch

// FileChange is a file with what it was and what it became or is to become, for
// patches of what no history holds.
type FileChange struct {
	// Path is the file's: absolute, without links.
	Path string
	// Existed and Exists say whether there was a file, and Before and After are what
	// it held.
	Existed, Exists bool
	Before, After   []byte
	// Mode are the permission bits of the former file.
	Mode uint32
}

// Patch is the change as [Store.Patch] writes it. The error is that of a file that the
// options leave out.
func (f *FileChange) Patch(o PatchOptions) ([]byte, error) {
	name, err := o.name(f.Path)
	if err != nil {
		return nil, err
	}
	c := &changed{name: name, before: f.Existed, after: f.Exists, old: f.Before, new: f.After, mode: gitMode(f.Mode)}
	return c.patch(), nil
}
