// Package paths looks at the file system for a judgement: where a path really lies, which
// names a shell pattern matches, which links a program follows, whether a directory
// changed. It changes nothing, and opens nothing that would block.
package paths
