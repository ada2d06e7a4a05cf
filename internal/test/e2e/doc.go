// Package e2e tests the example plugins and the command together, the way a
// user meets them: built from source, found in a directory, refused, granted,
// called. It has no code but tests.
package e2e
