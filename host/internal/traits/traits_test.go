package traits

import (
	"errors"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/permissions"
)

// warnings counts them.
type warnings int

func (w *warnings) Warn(string, ...any) { *w++ }

func access(kind permissions.AccessKind, path string) permissions.Access {
	return permissions.Access{Kind: kind, Target: path, Real: path}
}

// locking is a tool that locks what its fields name.
var locking = abi.Tool{Name: "Paint", ReadOnly: abi.TraitDerived, ConcurrencySafe: abi.TraitDerived, Locks: abi.LocksFields}

func settled(tool *abi.Tool, distrust *Distrust, named ...permissions.Access) Traits {
	t := Declared(tool, &abi.Assessment{}, distrust)
	t.Settle(tool, Settling{
		Distrust: distrust, Subject: &gate.Subject{Accesses: named}, Named: named, Cwd: "/w",
		Resolve: func(abi.Touch) (permissions.Access, error) {
			return permissions.Access{}, errors.New("nothing to resolve")
		},
	})
	return t
}

// TestSettle derives traits from what a call touches.
func TestSettle(t *testing.T) {
	t.Parallel()
	read, write := access(permissions.AccessRead, "/w/x"), access(permissions.AccessWrite, "/w/x")
	for name, test := range map[string]struct {
		named                  []permissions.Access
		readOnly, safe, locked bool
		covers                 map[permissions.Access]bool
	}{
		"a read":    {[]permissions.Access{read}, true, true, true, map[permissions.Access]bool{read: true, write: false, access(permissions.AccessRead, "/w"): true}},
		"a write":   {[]permissions.Access{write}, false, false, true, map[permissions.Access]bool{read: true, write: true, access(permissions.AccessRead, "/w"): false, access(permissions.AccessWrite, "/w/x/y"): true, access(permissions.AccessWrite, "/w/xy"): false}},
		"a command": {[]permissions.Access{{Kind: permissions.AccessExec, Target: "make"}}, true, true, false, nil},
		"nothing":   {nil, false, false, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := settled(&locking, &Distrust{}, test.named...)
			if got.ReadOnly != test.readOnly || got.ConcurrencySafe != test.safe || got.Locked != test.locked {
				t.Errorf("got %+v", got)
			}
			for a, want := range test.covers {
				if got.Covers(a) != want {
					t.Errorf("covers %v: %v", a, !want)
				}
			}
		})
	}
}

// TestDistrust has a tool break its word: the access is refused, and the tool is not
// believed again.
func TestDistrust(t *testing.T) {
	t.Parallel()
	never := func(permissions.Access) bool { return false }
	var distrust Distrust
	reading := abi.Tool{Name: "Peek", ReadOnly: abi.TraitTrue, ConcurrencySafe: abi.TraitTrue}
	known := Declared(&reading, &abi.Assessment{}, &distrust)
	var warned warnings
	held := Held{Tool: &reading, Traits: &known, Distrust: &distrust, Warner: &warned}
	if err := held.Access(access(permissions.AccessRead, "/w/x"), never); err != nil {
		t.Error(err)
	}
	if err := held.Access(access(permissions.AccessWrite, "/w/x"), never); abi.CodeOf(err) != abi.CodeDenied || warned != 1 {
		t.Errorf("%v, warned %d times", err, warned)
	}
	if again := Declared(&reading, &abi.Assessment{}, &distrust); again.ReadOnly || again.ConcurrencySafe {
		t.Errorf("it is believed again: %+v", again)
	}
	locked := settled(&locking, &distrust, access(permissions.AccessWrite, "/w/x"))
	held = Held{Tool: &locking, Traits: &locked, Distrust: &distrust, Warner: &warned}
	if err := held.Access(access(permissions.AccessWrite, "/w/y"), never); abi.CodeOf(err) != abi.CodeDenied {
		t.Error(err)
	}
	if again := settled(&locking, &distrust, access(permissions.AccessWrite, "/w/x")); again.Locked {
		t.Error("it is taken to have locked everything again")
	}
}

// TestMadeCalls holds the calls that a call makes to what it said of itself.
func TestMadeCalls(t *testing.T) {
	t.Parallel()
	reading, writing := Traits{ReadOnly: true, ConcurrencySafe: true}, Traits{}
	locked := settled(&locking, &Distrust{}, access(permissions.AccessWrite, "/w/x"))
	other := settled(&locking, &Distrust{}, access(permissions.AccessWrite, "/w/y"))
	for name, test := range map[string]struct {
		above, made Traits
		refused     bool
	}{
		"a read by a read":         {reading, reading, false},
		"a write by a read":        {reading, writing, true},
		"a write by a write":       {writing, writing, false},
		"a write within its locks": {locked, locked, false},
		"a write beside its locks": {locked, other, true},
		"a read beside its locks":  {locked, reading, false},
	} {
		held := Held{Tool: &abi.Tool{Name: "A"}, Traits: &test.above, Distrust: &Distrust{}}
		if err := held.Call(&abi.Tool{Name: "B"}, &test.made); (err != nil) != test.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
