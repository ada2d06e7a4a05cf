// Package workspace finds files the way a gate needs them found: a path is
// walked component by component to a handle, and to the real path of what that
// handle holds, so that a rule can judge where a path truly leads and the deed
// then happens on the very thing that was judged.
//
// [Resolve] walks to a [Node]; [Node.Open] and [Node.OpenDir] open what it
// holds. A [Dir] opens what lies in it without ever following a link, which is
// how a tree is searched.
//
// Nothing is opened by being resolved, and nothing that could wait or have
// effects is opened at all: FIFOs, sockets and devices are refused, as are the
// kernel's own file systems.
//
// On Linux a node is an O_PATH handle. On macOS and the BSDs, which have none,
// directories and regular files are opened for reading while walking, checked
// against a stat taken before; a search-only directory cannot be walked there.
// On other systems, Windows among them, the guarantee is weaker: links are
// resolved by name, and the file that is opened later is compared with the one
// that was seen ([abi.CodeChanged] where they differ).
package workspace
