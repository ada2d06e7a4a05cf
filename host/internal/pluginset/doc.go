// Package pluginset has the tools of a host as they change: those of plugins, and the embedder's.
//
//   - [Current] is the set that turns begin with, and reloads it.
//   - [Follower] says when a reload is due, because files have changed.
//
// It knows neither hosts nor sessions.
package pluginset
