package config

import (
	"cmp"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/retention"
	"github.com/toolquay/toolquay/permissions/settings"
)

// Retention are the limits of all that is kept for a user, the decision log and what else lies
// in the directory of state included.
func Retention(o *host.Options, dirs Dirs, l *settings.Loaded) retention.Options {
	out := o.Retention()
	out.State, out.Known = dirs.writable(), dirs.own()
	out.Log, out.LogOptions = cmp.Or(l.Log.Directory.Value, dirs.Decisions()), LogOptions(l)
	return out
}
