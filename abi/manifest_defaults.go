package abi

import (
	"cmp"
	"slices"
)

// DefaultMaxResultChars bounds a result where its tool's manifest does not, in
// code points.
const DefaultMaxResultChars = 50_000

// WithDefaults returns a copy of the manifest with every value that has a
// default filled in, but for Module, which [Manifest.ModuleFile] settles. It
// shares slices with m, other than Tools.
func (m *Manifest) WithDefaults() *Manifest {
	out := *m
	out.ABI = cmp.Or(m.ABI, ABIDirect)
	out.Instance = cmp.Or(m.Instance, InstanceFresh)
	out.Isolation = cmp.Or(m.Isolation, IsolationSandbox)
	out.Tools = slices.Clone(m.Tools)
	for i := range out.Tools {
		t := &out.Tools[i]
		t.ReadOnly = t.ReadOnlyTrait()
		t.ConcurrencySafe = t.ConcurrencySafeTrait()
		t.Destructive = t.DestructiveTrait()
		t.Enabled = t.EnabledTrait()
		t.Interrupt = cmp.Or(t.Interrupt, InterruptCancel)
		t.MaxResultChars = cmp.Or(t.MaxResultChars, DefaultMaxResultChars)
		t.Activity = cmp.Or(t.Activity, ActivityOther)
		t.Display = cmp.Or(t.Display, t.Name)
		if out.ABI == ABIExtism {
			t.Export = cmp.Or(t.Export, t.Name)
		}
	}
	return &out
}

// ModuleFile returns the name of a folder plugin's module.
func (m *Manifest) ModuleFile() string { return cmp.Or(m.Module, m.Name+".wasm") }

// The values of Tool.Activity.
const (
	ActivitySearch = "search"
	ActivityRead   = "read"
	ActivityOther  = "other"
)

// ReadOnlyTrait returns the trait with its default.
func (t *Tool) ReadOnlyTrait() Trait { return cmp.Or(t.ReadOnly, TraitFalse) }

// ConcurrencySafeTrait returns the trait with its default.
func (t *Tool) ConcurrencySafeTrait() Trait { return cmp.Or(t.ConcurrencySafe, TraitFalse) }

// DestructiveTrait returns the trait with its default.
func (t *Tool) DestructiveTrait() Trait { return cmp.Or(t.Destructive, TraitFalse) }

// EnabledTrait returns the trait with its default, which is true.
func (t *Tool) EnabledTrait() Trait { return cmp.Or(t.Enabled, TraitTrue) }

// Uses reports whether the tool may use a capability that its plugin claims: all of them
// where it names none, otherwise those it names, of which there may be none.
func (t *Tool) Uses(capability string) bool {
	return t.Capabilities == nil || slices.Contains(t.Capabilities, capability)
}

// AsksTraits reports whether the guest's assess must be asked for a trait.
func (t *Tool) AsksTraits() bool {
	return slices.Contains([]Trait{t.ReadOnly, t.ConcurrencySafe, t.Destructive, t.Enabled}, TraitInput)
}
