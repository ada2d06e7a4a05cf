package worker

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// A text of a result that is too long to hold crosses from the worker to the host
// in pieces, each of which the host takes and writes before the worker sends more
// than maxPieces beyond it. The result's own message comes after them.

const (
	// maxPieces is how many pieces of one text may be on their way.
	maxPieces = 8
	// maxTexts bounds the texts of one result: in each there is an answer to a
	// capability call, of which only so many are unread.
	maxTexts = maxRequests
	// spillRate is how fast a worker sends a text at least, in bytes a second. It is
	// given that much more time than its guest has.
	spillRate = 16 << 20
)

// spill is one such text, as the host sees it.
type spill struct {
	call    *call
	process *process
	id      uint32
	pieces  chan []byte

	mu    sync.Mutex
	over  bool // pieces is closed
	whole bool // and the text is all there

	// ended is closed when run has set the rest, and discarded a text that it could
	// not end.
	ended chan struct{}
	to    abi.Spill
	text  *abi.Spilled // nil for such a text
}

// texts are those of one result.
type texts struct {
	make  func() (abi.Spill, error) // nil where the host takes none in pieces
	bytes atomic.Int64              // that came

	mu   sync.Mutex
	list []*spill
}

// piece takes a piece of a text of a call from the worker.
func (t *texts) piece(c *call, p *process, h header, payload []byte) error {
	s, err := t.of(c, p, h.request)
	if err != nil {
		return err
	}
	ends := h.flags&flagEnd != 0
	if len(payload) == 0 && !ends {
		return violate("sent a piece of nothing")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return violate("went on with the text %d after its end", s.id)
	}
	if t.bytes.Add(int64(len(payload))) > abi.MaxSpilled {
		return violate("sent texts of over %s", abi.Size(abi.MaxSpilled))
	}
	if len(payload) > 0 {
		select {
		case s.pieces <- payload:
		default:
			return violate("sent more than %d pieces of a text ahead", maxPieces)
		}
	}
	if ends {
		s.over, s.whole = true, true
		close(s.pieces)
	}
	return nil
}

// of returns the text of a number. They are numbered from 1 on, in the order
// of the result's blocks, and come one after the other.
func (t *texts) of(c *call, p *process, id uint32) (*spill, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := uint32(len(t.list))
	switch {
	case t.make == nil:
		return nil, violate("sent a text in pieces where the host takes none")
	case id == 0 || id > n+1:
		return nil, violate("numbered a text %d after %d", id, n)
	case id <= n:
		return t.list[id-1], nil
	case id > maxTexts:
		return nil, violate("sent more than %d texts", maxTexts)
	case n > 0 && !t.list[n-1].isOver():
		return nil, violate("began the text %d in the middle of the text before it", id)
	}
	s := &spill{call: c, process: p, id: id, pieces: make(chan []byte, maxPieces), ended: make(chan struct{})}
	t.list = append(t.list, s)
	c.work.do(s.run)
	return s, nil
}

// run writes the pieces as they come, and tells the worker of each.
func (s *spill) run() {
	defer close(s.ended)
	var err error
	for piece := range s.pieces {
		if err != nil {
			continue // the worker knows
		}
		if err = s.served(func() error { return s.write(piece) }); err != nil {
			s.fail(err)
			continue
		}
		_ = s.process.out.send(newMessage(kindSpilled, s.call.id, s.id, 0)) // fails with the worker, and then the call ends
	}
	if !s.whole || err != nil {
		s.discard()
		return
	}
	if err = s.served(s.end); err != nil {
		s.fail(err)
		s.discard()
		return
	}
	message := newMessage(kindSpilled, s.call.id, s.id, 0)
	message[5] = flagEnd
	_ = s.process.out.send(message)
}

// served does something that the worker waits for, and whose time is not its own.
func (s *spill) served(do func() error) error {
	s.call.watch.serving.Add(1)
	defer s.call.watch.serving.Add(-1)
	return do()
}

func (s *spill) write(piece []byte) error {
	if err := s.open(); err != nil {
		return err
	}
	_, err := s.to.Write(piece)
	return err
}

func (s *spill) open() (err error) {
	if s.to == nil {
		s.to, err = s.call.texts.make()
	}
	return err
}

func (s *spill) end() error {
	err := s.open()
	if err == nil {
		s.text, err = s.to.Done()
	}
	return err
}

func (s *spill) fail(err error) {
	b := appendError(newMessage(kindSpilled, s.call.id, s.id, 64), abi.SpillError(err))
	b[5] = flagFailed
	_ = s.process.out.send(b)
}

func (s *spill) discard() {
	if s.to != nil {
		s.to.Discard()
	}
}

// isOver reports whether no more pieces come.
func (s *spill) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// giveUp ends a text that is not whole.
func (s *spill) giveUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.over = true
		close(s.pieces)
	}
}

// all are those that have come.
func (t *texts) all() []*spill {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list
}

// time is how much longer than its guest's time a call may take for the texts
// that it has sent.
func (t *texts) time() time.Duration {
	return time.Duration(t.bytes.Load()) * time.Second / spillRate
}

// discard takes away the texts that are no part of a result. It does not wait
// for one that is being written: no more of that will come.
func (t *texts) discard() {
	for _, s := range t.list {
		go func() {
			if s.await() != nil {
				s.discard()
			}
		}()
	}
}

// await returns what became of a text that no more will come of, nil where it is not
// whole.
func (s *spill) await() *abi.Spilled {
	<-s.ended
	return s.text
}

// spillHead precedes the message in kindResult: u32 how many of the result's texts
// were sent in pieces, and u32 the index of the block of each.
func putSpillHead(b []byte, blocks []abi.Block) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	for i, block := range blocks {
		if block.Spilled != nil {
			b = binary.LittleEndian.AppendUint32(b, uint32(i))
		}
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4)/4)
	return b
}

// errResult is what is wrong with a result that contradicts what came before it.
var errResult = errors.New("sent a result that names other texts than it has sent")

// result reads the message of a result.
func (t *texts) result(payload []byte, limit int64) (abi.ToolResult, error) {
	n := 4 * (1 + len(t.list))
	if len(payload) < n || binary.LittleEndian.Uint32(payload) != uint32(len(t.list)) {
		return abi.ToolResult{}, abi.Errorf(abi.CodeProtocol, "the worker process %w", errResult)
	}
	result, err := abi.DecodeResult(payload[n:], limit, nil)
	if err != nil {
		return abi.ToolResult{}, err
	}
	last := -1
	for i, s := range t.list {
		at := int(binary.LittleEndian.Uint32(payload[4*(1+i):]))
		text := s.await()
		if text == nil || at <= last || at >= len(result.Content) || result.Content[at].Type != abi.BlockText {
			return abi.ToolResult{}, abi.Errorf(abi.CodeProtocol, "the worker process %w", errResult)
		}
		result.Content[at] = abi.Block{Type: abi.BlockText, Spilled: text}
		last = at
	}
	t.list = slices.Delete(t.list, 0, len(t.list)) // they are the caller's now
	return result, nil
}
