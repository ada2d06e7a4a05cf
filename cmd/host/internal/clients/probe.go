package clients

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Revisions are the revisions of the protocol that clients speak, newest first.
var Revisions = []string{"2026-07-28", "2025-11-25"}

// Probe is a server that is started and asked as a client does.
type Probe struct {
	Command []string
	// Environment is added to this process's.
	Environment []string
	Dir         string
}

// Report is what a server did.
type Report struct {
	// Revision is the one that was agreed on.
	Revision string
	Server   string
	// First is how long the handshake took, from the start of the program.
	First        time.Duration
	Tools        []*mcp.Tool
	Instructions string
	// Noise is what the server wrote to its standard output beside JSON, and Errors what it
	// wrote to its standard error: how many lines, and the first.
	Noise, Errors Lines
	// Ended says how it ended after its input did: nil by itself with success.
	Ended error
}

// Lines are lines that were counted.
type Lines struct {
	Count int
	First string
}

func (l *Lines) add(line []byte) {
	const longest = 200
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return
	}
	if l.Count++; l.Count == 1 {
		l.First = string(line[:min(len(line), longest)])
	}
}

// The times that a server gets: in all, and to end after its input has.
const (
	patience = 30 * time.Second
	endTime  = 5 * time.Second
)

// Run starts the server, agrees on a revision, lists the tools and ends it. The report holds what
// was seen until an error.
func (p *Probe) Run(ctx context.Context, revision string) (r Report, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer within %s", patience))
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Command[0], p.Command[1:]...)
	cmd.Dir = p.Dir
	cmd.Env = append(cmd.Environ(), p.Environment...)
	cmd.WaitDelay = time.Second
	var outErr stderrLines
	cmd.Stderr = &outErr
	in, err := cmd.StdinPipe()
	if err != nil {
		return r, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return r, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return r, fmt.Errorf("starting it: %w", err)
	}
	messages, write := io.Pipe()
	filtered := make(chan Lines, 1)
	go func() { filtered <- onlyJSON(write, out) }()
	err = ask(ctx, &mcp.IOTransport{Reader: messages, Writer: in}, revision, start, &r)
	_ = in.Close()
	r.Noise, r.Ended = end(cmd, filtered)
	r.Errors = outErr.lines()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return r, err
}

// ask does what a client does at first.
func ask(ctx context.Context, t mcp.Transport, revision string, start time.Time, r *Report) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "toolquay-doctor", Version: "1"}, nil)
	session, err := client.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return fmt.Errorf("the handshake: %w", err)
	}
	defer session.Close()
	r.First = time.Since(start)
	if said := session.InitializeResult(); said != nil {
		r.Revision, r.Instructions = said.ProtocolVersion, said.Instructions
		if said.ServerInfo != nil {
			r.Server = said.ServerInfo.Name + " " + cmp.Or(said.ServerInfo.Version, "without a version")
		}
	}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("listing the tools: %w", err)
		}
		r.Tools = append(r.Tools, tool)
	}
	return nil
}

// onlyJSON passes on the lines that are JSON, and counts the others.
func onlyJSON(to *io.PipeWriter, from io.Reader) (noise Lines) {
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadBytes('\n')
		if json.Valid(line) {
			if _, err := to.Write(line); err != nil {
				_, _ = io.Copy(io.Discard, in)
				return noise
			}
		} else {
			noise.add(line)
		}
		if err != nil {
			_ = to.CloseWithError(io.EOF)
			return noise
		}
	}
}

// end waits for the end of a program whose input has ended, and of what it wrote.
func end(cmd *exec.Cmd, filtered <-chan Lines) (noise Lines, err error) {
	late := time.AfterFunc(endTime, func() { _ = cmd.Process.Kill() })
	read := false
	select {
	case noise = <-filtered:
		read = true
	case <-time.After(endTime + time.Second): // what it started still holds its output
	}
	err = cmd.Wait() // this ends the reading
	if !read {
		noise = <-filtered
	}
	if !late.Stop() {
		return noise, fmt.Errorf("it went on for %s after its input had ended, and was killed", endTime)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return noise, fmt.Errorf("it ended with %s", exit)
	}
	return noise, err
}

// stderrLines collects the first of what a program writes to its standard error.
type stderrLines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *stderrLines) Write(p []byte) (int, error) {
	const most = 64 << 10
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p[:min(len(p), max(most-s.text.Len(), 0))])
	return len(p), nil
}

func (s *stderrLines) lines() (l Lines) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range bytes.Lines(s.text.Bytes()) {
		l.add(line)
	}
	return l
}
