package ui

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"
)

// keyboard is how the person answers.
type keyboard interface {
	// single says that key needs no Enter.
	single() bool
	// key waits for a key pressed after the call began, line for a line.
	key(ctx context.Context) (rune, error)
	// spare is key where no answer is awaited: it takes the terminal from nobody.
	spare(ctx context.Context) (rune, error)
	line(ctx context.Context) (string, error)
	// drop throws away what was typed before.
	drop() error
	// keep notes how the terminal is, for another program to have it until restore is called.
	keep() (restore func())
	// abandon leaves the terminal for good as it was found, while others may still read it.
	abandon()
}

func newKeyboard(in *os.File) keyboard {
	if IsTerminal(in) {
		if k := newTerminal(in); k != nil {
			return k
		}
	}
	return &pipe{in: in, lines: make(chan string)}
}

// pipe reads lines from what is no terminal, where keys come with their line.
type pipe struct {
	in    io.Reader
	start sync.Once
	lines chan string
}

func (*pipe) single() bool { return false }

// spare reads none: each line of a pipe answers a question.
func (*pipe) spare(context.Context) (rune, error) { return 0, errAway }

// drop keeps everything: who writes to a pipe answers in advance.
func (*pipe) drop() error { return nil }

func (*pipe) keep() (restore func()) { return func() {} }
func (*pipe) abandon()               {}

// maxAnswer is the longest line taken for an answer, in bytes.
const maxAnswer = 64 << 10

// line waits for a line. The reading itself cannot be interrupted, so it goes
// on beside, for as long as the program runs.
func (p *pipe) line(ctx context.Context) (string, error) {
	p.start.Do(func() {
		go func() {
			defer close(p.lines)
			s := bufio.NewScanner(p.in)
			s.Buffer(nil, maxAnswer)
			for s.Scan() {
				p.lines <- s.Text()
			}
		}()
	})
	select {
	case line, open := <-p.lines:
		if !open {
			return "", io.EOF
		}
		return strings.TrimSpace(line), nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// key is a line of one character. A longer one answers nothing, so that what
// was meant for another question does not answer this one.
func (p *pipe) key(ctx context.Context) (rune, error) {
	line, err := p.line(ctx)
	if r, size := utf8.DecodeRuneInString(line); size == len(line) {
		return r, err
	}
	return 0, err
}
