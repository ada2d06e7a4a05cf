// Package config reads what a user set up on their machine and makes options of package
// host of it. Nothing behind host reads the environment, the home directory or a
// well-known place; a program that wants what the command toolquay finds there asks this
// package, step by step:
//
//	dirs := config.UserDirs()
//	trust, err := config.OpenTrust(dirs.Trust())
//	...
//	project, err := config.FindProject(cwd, trust)
//	...
//	loaded, err := settings.Load(config.UserSettings(dirs, project))
//	...
//	options, err := config.ForUser(dirs, project, loaded)
//	...
//	h, err := host.Open(ctx, options)
//
// For the tool Config, make options.Settings with [NewOwn] before, and say with [Own.Applies] how
// what is set comes into force.
//
// These options run commands, so the program must call [host.Main] first thing in main. Call
// [Dirs.Probe] before the rest if State may not be writable, as in a container.
//
// [Dirs] are plain data: a program, or a test, that names them itself keeps the rest away
// from the user's own. Of the environment ForUser then reads the variables that commands
// and hooks get and those that settings name.
package config
