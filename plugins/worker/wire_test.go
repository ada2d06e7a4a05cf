package worker

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// heard is what a process came to that was sent bytes as if by its worker, during a
// call that offers capabilities and takes texts in pieces, or does not.
func heard(t *testing.T, sent []byte, offers bool) (calls int, err error) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		_, _ = w.Write(sent)
		_ = w.Close()
	}()
	sink := devNull(t)
	limits := plugins.Limits{Output: 1 << 10, LogLines: 2, CapabilityCalls: 3}
	m := newModule(New("test", Options{}), plugins.Module{Manifest: &abi.Manifest{Name: "fixture"}, Limits: limits})
	c := &call{link: link{module: m}, id: 1, message: newMessage(kindCall, 1, 0, 0)}
	c.enter(t.Context())
	if offers {
		var begun, settled atomic.Int32
		defer func() {
			for _, s := range c.texts.list {
				<-s.ended
			}
			if begun.Load() != settled.Load() {
				t.Errorf("%d texts were begun, %d are whole or discarded", begun.Load(), settled.Load())
			}
		}()
		c.texts.make = func() (abi.Spill, error) {
			begun.Add(1)
			return heardText{abi.NewSpillWriter(io.Discard), &settled}, nil
		}
		c.requests.do = func(context.Context, abi.Request) (abi.Answer, error) {
			calls++
			return abi.Answer{OK: struct{}{}, Body: io.NopCloser(strings.NewReader("body")), Size: -1}, nil
		}
	}
	p := &process{module: m, out: writer{file: sink}, underway: underway{calls: map[uint32]*call{1: c}}}
	p.feed.in = newReader(r, p.limit)
	for err == nil {
		var h header
		var payload []byte
		if h, payload, err = p.feed.in.next(); err == nil {
			err = p.take(h, payload)
		}
	}
	c.end()
	c.work.group.Wait()
	return calls, err
}

func devNull(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// heardText is a text that comes in pieces.
type heardText struct {
	*abi.SpillWriter
	settled *atomic.Int32
}

// Done is counted.
func (h heardText) Done() (*abi.Spilled, error) {
	h.settled.Add(1)
	return h.Spilled("/s"), nil
}

// Discard is counted.
func (h heardText) Discard() { h.settled.Add(1) }

// ending is a message with the flag that ends a body or text.
func ending(message []byte) []byte {
	message[5] = flagEnd
	return message
}

func sent(k kind, call, request uint32, payload string) []byte {
	b := append(newMessage(k, call, request, len(payload)), payload...)
	binary.LittleEndian.PutUint32(b, uint32(len(payload)))
	return b
}

// FuzzWorker plays a worker that is under somebody else's control: whatever it
// sends, the host neither panics nor does more than was allowed.
func FuzzWorker(f *testing.F) {
	request, err := abi.EncodeRequest(nil, abi.Request{Name: "fs.read", Args: []byte(`{"path":"x"}`)})
	if err != nil {
		f.Fatal(err)
	}
	progress, err := abi.EncodeProgress(nil, abi.ProgressHead{Log: &abi.Log{Level: "info", Message: "hello"}})
	if err != nil {
		f.Fatal(err)
	}
	ask := sent(kindRequest, 1, 1, string(request))
	f.Add(ask)
	f.Add(bytes.Join([][]byte{ask, sent(kindRequest, 1, 2, string(request)), sent(kindDrop, 1, 1, ""), sent(kindCredit, 1, 2, "\x01\x00\x00\x00")}, nil))
	f.Add(bytes.Join([][]byte{sent(kindProgress, 1, 0, string(progress)), sent(kindLog, 0, 0, "\x04warning")}, nil))
	f.Add(append(sent(kindResult, 1, 0, "x"), sent(kindResult, 1, 0, "x")...))
	f.Add(sent(kindFailed, 1, 0, "\x04trapit trapped"))
	f.Add(sent(kindSessionEnded, 1, 0, ""))
	f.Add([]byte("hello, host"))
	f.Add(bytes.Join([][]byte{sent(kindSpill, 1, 1, "a text"), ending(sent(kindSpill, 1, 1, "in pieces")), sent(kindSpill, 1, 2, "and half of one")}, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, requests := range []bool{false, true} {
			calls, err := heard(t, b, requests)
			if err == nil {
				t.Fatal("it ended without a word")
			}
			if calls > 3 || calls > 0 && !requests {
				t.Errorf("%d capability calls were done", calls)
			}
		}
	})
}

func FuzzSetup(f *testing.F) {
	s := &setup{Limits: limits{Memory: 1 << 20}, Load: &loadSetup{ABI: abi.ABIDirect, Manifest: loadManifest{Limits: plugins.Limits{Output: 7}}}}
	b, err := appendSetup(nil, s, []byte("module"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{2, 0, 0, 0, '{', '}'})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, wasm, err := decodeSetup(b)
		if err != nil {
			return
		}
		again, err := appendSetup(nil, s, wasm)
		if err != nil {
			t.Fatal(err)
		}
		if _, module, err := decodeSetup(again); err != nil || !bytes.Equal(module, wasm) {
			t.Errorf("the module became %d bytes of %d, %v", len(module), len(wasm), err)
		}
	})
}

// TestSetupKeepsTheManifest has the limits in force take the place of those that
// a manifest claims, and nothing else lost.
func TestSetupKeepsTheManifest(t *testing.T) {
	m := abi.Manifest{Name: "fixture", ABI: abi.ABIExtism, Instance: abi.InstanceKept, Tools: []abi.Tool{{Name: "A", Export: "a", OutputSchema: "{}"}}}
	m.Limits.Memory = 1 << 40
	in := &setup{Load: &loadSetup{Manifest: loadManifest{m, plugins.Limits{Memory: 1 << 20, LogLines: 3}}}}
	b, err := appendSetup(nil, in, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := decodeSetup(b)
	if err != nil {
		t.Fatal(err)
	}
	got := out.Load.Manifest
	if got.Limits != in.Load.Manifest.Limits || got.Name != m.Name || got.Instance != m.Instance || got.Tools[0].Export != "a" || got.Tools[0].OutputSchema != "{}" {
		t.Errorf("got %+v", got)
	}
}
