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
//
// # Drafts
//
// A [Draft] is new content for where a node lies. It is made in the directory of the
// node's real path, which is found again over no link and held: a link that is put
// anywhere on the way after Resolve ends in [abi.CodeChanged], or the content goes to
// the place that was judged, and never elsewhere. The content is on the disk before it
// gets its name, and a reader sees the former content or the new one, whole.
//
// On Linux and macOS the new file and the former trade names at once. What came out is
// then looked at (device, inode, size, times of content, mode, owner): if it is not
// what the caller read, it is given back, and nothing that anyone wrote is deleted.
// Where somebody writes the same name again and again meanwhile, what cannot be given
// back is kept, and the error says under which name. The former file is removed once
// the new name is on the disk. On the BSDs, on Windows, and on file systems that
// cannot exchange names (NFS and FAT among them) the name is looked at and then
// replaced: what somebody writes in the few microseconds between is lost. A new file
// never replaces one that has appeared meanwhile, but on file systems that have
// neither such a rename nor hard links. A program that holds the former file open
// goes on writing to that.
//
// The mode is kept, but for set-uid and set-gid; so are, as far as the host may, owner
// and group, and on Linux and macOS extended attributes, on Linux access control lists.
// What cannot be kept lets nobody in whom the former file kept out: without the group,
// group and others keep only what both had; without the list they keep nothing. On
// macOS and the BSDs access control lists are not kept, on Windows nothing is but the
// read-only attribute. Other hard links keep the former content.
//
// A host that is killed may leave a file whose name is ".toolquay-", 26 letters and
// digits, "-" and the name of the file that was to be written. On Linux, where the
// file system has files without names, it holds the former content or the new one,
// whole; elsewhere it may be cut short. It may always be removed, but look first
// whether the file itself holds what it should. So may one that appears after a power
// failure.
package workspace
