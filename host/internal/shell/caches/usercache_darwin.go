package caches

import "path/filepath"

// userCaches is the user's directory for caches.
func (o Options) userCaches() string { return filepath.Join(o.Home, "Library", "Caches") }
