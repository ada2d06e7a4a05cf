// Package discovery finds plugins: it lists the candidates of a place, reads their manifests,
// and keeps what it read in an index, so that the next process need not read it again. It
// decides nothing about plugins.
package discovery
