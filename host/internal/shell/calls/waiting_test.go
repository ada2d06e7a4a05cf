//go:build linux && (amd64 || arm64) && !race

package calls_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
)

// A program waits once, and where its process shares memory.
func TestWaitsInVain(t *testing.T) {
	for name, add := range map[string]func(*calls.Program){
		"twice":            func(p *calls.Program) { p.Wait(); p.Wait() },
		"in copied memory": func(p *calls.Program) { p.CopyMemory(); p.Wait() },
	} {
		p := &calls.Program{}
		add(p)
		if _, err := new(calls.Carrier).Start(p, nil, -1); err == nil {
			t.Errorf("%s: it started", name)
		}
	}
}

// Nothing goes on that does not wait, or by a program that waits in its turn.
func TestGoesOnInVain(t *testing.T) {
	p, again := &calls.Program{}, &calls.Program{}
	p.Wait()
	again.Wait()
	var c calls.Carrier
	pid, err := c.Start(p, nil, -1)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Continue(pid, again, nil, -1); err == nil {
		t.Error("it waits again")
	}
	if _, err := unix.Wait4(pid, nil, 0, nil); err != nil { // it ends, as nobody can tell it anything
		t.Error(err)
	}
}
