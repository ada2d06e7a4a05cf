package shell

import (
	"errors"
	"io"
	"os"
	"sync"

	"github.com/toolquay/toolquay/abi"
)

// output is what a command writes: one text, as it came, or separate streams.
type output struct {
	// out and err are the streams, and all holds everything as it came. If there is one text,
	// err is nil, and all is out.
	out, err, all *store
	// full is closed when more came than is kept.
	full chan struct{}
	once sync.Once

	pipes []*pipe
	read  sync.WaitGroup
}

// newOutput returns an empty output. Long ones go to files that open makes.
func newOutput(separate bool, most int64, open func() (*os.File, error)) *output {
	o := &output{full: make(chan struct{}), out: newStore(most, open)}
	o.all = o.out
	if separate {
		o.err, o.all = newStore(most, open), newStore(most, open)
	}
	return o
}

// sink writes to one or more stores.
type sink struct {
	o      *output
	stores []*store
}

// sinks are those of standard output and error, or the one that both go to.
func (o *output) sinks() []sink {
	if o.err == nil {
		return []sink{{o, []*store{o.out}}}
	}
	return []sink{{o, []*store{o.out, o.all}}, {o, []*store{o.err, o.all}}}
}

// Write implements [io.Writer]. It does not fail: errors are told with what was kept.
func (s sink) Write(p []byte) (int, error) {
	for _, store := range s.stores {
		if !store.add(p) {
			s.o.once.Do(func() { close(s.o.full) })
		}
	}
	return len(p), nil
}

// connect makes the pipes of the command, and reads them.
func (o *output) connect() error {
	sinks := o.sinks()
	for range sinks {
		p, err := newPipe()
		if err != nil {
			o.closePipes()
			o.pipes = nil
			return abi.Errorf(abi.CodeIO, "making a pipe for a command's output: %w", err)
		}
		o.pipes = append(o.pipes, p)
	}
	for i, to := range sinks {
		o.read.Go(func() { drain(to, o.pipes[i]) })
	}
	return nil
}

// writers are the ends that the command gets: for standard output and error.
func (o *output) writers() (stdout, stderr *os.File) {
	return o.pipes[0].w, o.pipes[len(o.pipes)-1].w
}

// started closes our copies of the command's ends.
func (o *output) started() {
	for _, p := range o.pipes {
		_ = p.w.Close() // a pipe's close does not fail
	}
}

// drain reads a pipe to its end. The buffer grows if much comes at a time.
func drain(to sink, p *pipe) {
	small := smallBuffers.Get().(*[smallBuffer]byte) //nolint:errcheck // it holds nothing else
	defer smallBuffers.Put(small)
	b := small[:]
	for {
		n, err := p.read(b)
		_, _ = to.Write(b[:n]) // a sink takes everything
		if err != nil {
			return
		}
		if n == len(b) && len(b) < largeBuffer {
			large := largeBuffers.Get().(*[largeBuffer]byte) //nolint:errcheck // as above
			defer largeBuffers.Put(large)                    //nolint:gocritic // it comes here once
			b = large[:]
		}
	}
}

// largeBuffer is as much as a pipe holds.
const (
	smallBuffer = 32 << 10
	largeBuffer = 1 << 20
)

var (
	smallBuffers = sync.Pool{New: func() any { return new([smallBuffer]byte) }}
	largeBuffers = sync.Pool{New: func() any { return new([largeBuffer]byte) }}
)

// finish reads what is in the pipes now and closes them. It does not wait for processes that
// still hold the other ends.
func (o *output) finish() {
	for _, p := range o.pipes {
		p.last()
	}
	o.read.Wait()
	o.closePipes()
}

func (o *output) closePipes() {
	for _, p := range o.pipes {
		_ = p.w.Close() // it may be closed already
		_ = p.r.Close()
	}
}

// stores are all stores that there are.
func (o *output) stores() []*store {
	if o.err == nil {
		return []*store{o.all}
	}
	return []*store{o.out, o.err, o.all}
}

// use adds a reader.
func (o *output) use() {
	for _, s := range o.stores() {
		s.use()
	}
}

// release removes a reader.
func (o *output) release() error {
	var errs []error
	for _, s := range o.stores() {
		errs = append(errs, s.release())
	}
	return errors.Join(errs...)
}

// tell fills the counts of an answer's head, and makes its body: each stream as a whole, if it
// has at most so many bytes, or else its ends. If the body does not hold everything, the file
// that does is kept. Shown is how much of the file's beginning the body is known to hold.
func (o *output) tell(ok *abi.ShellOK, most int64) (body io.ReadCloser, shown int64, err error) {
	var parts pieces
	whole := true
	for _, stream := range []struct {
		kept *store
		size *int64
	}{{o.out, &ok.OutSize}, {o.err, &ok.ErrSize}} {
		if stream.kept == nil {
			continue
		}
		more, all, err := stream.kept.show(most)
		if err != nil {
			return nil, 0, abi.Errorf(abi.CodeIO, "reading the output of the command again: %w", err)
		}
		*stream.size = more.size()
		parts, shown, whole = append(parts, more...), max(all, 0), whole && all != notWhole
		_, _, invalid := stream.kept.count()
		ok.Invalid += invalid
	}
	if o.err != nil {
		shown = 0 // how the two are mixed in the file is unknown
	}
	ok.Bytes, ok.Lines, _ = o.all.count()
	if !whole {
		ok.OutputFile, ok.Kept = o.all.want()
	}
	o.use()
	return parts.body(sync.OnceValue(o.release)), shown, nil
}
