// Package hostile holds the host to its word about modules that mean harm. It
// has tests only: each fixture is a module that spins, grows, recurses, floods or
// bloats, and each is called through every runner that can run it, as a plugin
// like any other. It must be stopped within its limit, with an error that names
// the limit, while another plugin goes on answering and memory stays in bounds.
//
// Every case runs in a process of its own, so that its memory is its own, and a
// case that is not stopped can be.
package hostile
