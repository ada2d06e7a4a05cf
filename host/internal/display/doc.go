// Package display renders the lines that people are shown of a call: while it is queued,
// when it runs, how far it has come, and what came of it. They come from the templates of
// the tool's manifest, or from what its guest says of the one call.
//
// What a template is filled with comes from models, files and strangers. So a line has a
// bounded length, is one line, and no character in it controls a terminal or hides or turns
// text: such are written as escapes.
package display
