// Package filewatch tells when files change, come or go.
//
// The system's own word is what makes it quick, and a look every few seconds what
// makes it sure: network file systems tell of no change, nor does a system that has
// run out of watches. The files, and the directories that they will lie in, need
// not exist yet.
package filewatch
