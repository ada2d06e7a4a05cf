// Package ui is how the command talks to a person: text made safe to show, a
// terminal's colours and width, the timeline of a turn, and questions.
//
// Nothing that a model, a guest or a file wrote reaches a terminal as it is.
// [Printer] escapes whatever it prints; styles are put around it afterwards.
package ui
