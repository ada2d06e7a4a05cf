// Package pluginset has the plugins of a host as they change.
//
//   - [Current] is the set that turns begin with, and reloads it.
//   - [Follower] says when a reload is due, because files have changed.
//
// It knows neither hosts nor sessions.
package pluginset
