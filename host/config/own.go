package config

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

// Own are the settings of a user that the tool Config reads and sets, for
// [host.Options].Settings. Those that may be read and set are [settings.OpenSettings]; they
// are set in the user's file. It is safe for concurrent use.
type Own struct {
	sources settings.Options

	mu     sync.Mutex // held while one is set
	loaded *settings.Loaded
	apply  func(*settings.Loaded) error
}

var _ capability.Settings = (*Own)(nil)

// NewOwn returns the settings that are loaded from some sources; nil where there is no file of
// the user's to set them in.
func NewOwn(sources settings.Options, loaded *settings.Loaded) *Own {
	if sources.UserFile == "" {
		return nil
	}
	return &Own{sources: sources, loaded: loaded}
}

// Applies has settings that were set, or found changed, put into force: by [host.Host.Apply],
// say. Before that they only count for [Own.Get]. It is called with one at a time.
func (o *Own) Applies(apply func(*settings.Loaded) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.apply = apply
}

// Take puts settings into force that were found changed, such as by [settings.Follow]. Those
// that have changed again by now, as one was set, are passed over: they are found once more.
func (o *Own) Take(loaded *settings.Loaded) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now, err := settings.Load(o.sources); err == nil && !reflect.DeepEqual(now, loaded) {
		return nil
	}
	return o.take(loaded)
}

func (o *Own) take(loaded *settings.Loaded) error {
	if o.apply != nil {
		if err := o.apply(loaded); err != nil {
			return err
		}
	}
	o.loaded = loaded
	return nil
}

// File is the user's settings file.
func (o *Own) File() string { return o.sources.UserFile }

// Get implements [capability.Settings].
func (o *Own) Get(name string) (capability.Setting, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return get(o.loaded, name)
}

func get(loaded *settings.Loaded, name string) (capability.Setting, error) {
	setting, err := loaded.Get(name)
	if err != nil || setting.Value == nil {
		return capability.Setting{}, err
	}
	return capability.Setting{Value: setting.Value, Source: setting.Source.String()}, nil
}

// Check implements [capability.Settings].
func (o *Own) Check(name string, value json.RawMessage) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.loaded.CheckSet(name, value)
}

// Set writes a setting to the user's file and puts it into force, with whatever else has
// changed in the settings since. Where that fails, the file is as it was set, and the error
// says so.
func (o *Own) Set(ctx context.Context, name string, value json.RawMessage) (before, now capability.Setting, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if ctx.Err() != nil {
		return before, now, abi.Errorf(abi.CodeOfEnd(ctx), "%s was not set: %w", name, context.Cause(ctx))
	}
	// What another process has set in the meantime counts, too.
	loaded, err := settings.Load(o.sources)
	if err != nil {
		return before, now, abi.Errorf(abi.CodeIO, "%s was not set: the settings cannot be read: %w", name, err)
	}
	if err := loaded.CheckSet(name, value); err != nil {
		return before, now, err
	}
	if before, err = get(loaded, name); err != nil {
		return before, now, err
	}
	target := settings.Target{Kind: permissions.SourceUser, Path: o.sources.UserFile}
	if err := settings.Set(target, name, value); err != nil {
		code := abi.CodeOf(err)
		if code != abi.CodeInvalidInput {
			code = abi.CodeIO
		}
		return before, now, abi.Errorf(code, "%s was not set: %w", name, err)
	}
	if loaded, err = settings.Load(o.sources); err == nil {
		err = o.take(loaded)
	}
	if err != nil {
		return before, now, abi.Errorf(abi.CodeIO, "%s is set in %s and does not count yet: %w", name, o.sources.UserFile, err)
	}
	now, err = get(loaded, name)
	return before, now, err
}

// TuningOf returns the part of loaded settings that says how calls run and what models are
// offered, for [host.Settings].Tuning.
func TuningOf(dirs Dirs, loaded *settings.Loaded, environ []string) (host.Tuning, error) {
	var o host.Options
	shell, err := shellOf(dirs, loaded, environ)
	if err != nil {
		return host.Tuning{}, fmt.Errorf("the settings of commands: %w", err)
	}
	o.Shell = shell
	if err := setTables(&o, dirs, loaded); err != nil {
		return host.Tuning{}, err
	}
	return o.Tuning(), nil
}
