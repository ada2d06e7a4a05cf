//go:build !darwin

package caches

import "path/filepath"

// userCaches is the user's directory for caches.
func (o Options) userCaches() string {
	if dir := lookup(o.Environ, "XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(o.Home, ".cache")
}
