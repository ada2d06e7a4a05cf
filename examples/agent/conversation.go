package main

import (
	"context"
	"errors"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// Model is what the loop needs of a model's API. Here a script plays it; put your client
// behind it.
type Model interface {
	// Reply sends the results of the last message's calls and reads the next message. It
	// passes each call to add as soon as it is written, and returns the text. A message
	// without calls ends the conversation.
	Reply(ctx context.Context, results []abi.ToolResult, add func(abi.ToolUse) error) (text string, err error)
}

// Conversation is one model at work in one session.
type Conversation struct {
	Session *host.Session
	Model   Model
	// Show takes every event.
	Show func(host.Event)

	// results are those that the model was not told yet.
	results []abi.ToolResult
}

// Run goes on until the model has nothing more to do, and returns its last words. When ctx
// is cancelled, every call still gets its result, so that Run can be called again: the
// model is then told what was cancelled.
func (c *Conversation) Run(ctx context.Context) (string, error) {
	for {
		text, goOn, err := c.turn(ctx)
		if err != nil || !goOn {
			return text, err
		}
	}
}

// turn runs one message of the model. Its calls start while the model still writes.
func (c *Conversation) turn(ctx context.Context) (text string, goOn bool, err error) {
	stream := c.Session.Stream(ctx)
	written := make(chan error)
	go func() {
		var err error
		if text, err = c.Model.Reply(ctx, c.results, stream.Add); err != nil {
			stream.Discard() // the message broke off, so its results are void
		}
		stream.Close()
		written <- err
	}()
	var results []abi.ToolResult
	stopped := false
	for event := range stream.Events() {
		switch event.Kind {
		case host.EventResult: // in the order of the calls
			results = append(results, *event.Result)
		case host.EventReplaced: // it was too long beside the others
			results[event.Index] = *event.Result
		case host.EventStop: // a hook or the person wants no further message
			stopped = true
		}
		c.Show(event)
	}
	if err := <-written; err != nil {
		return "", false, errors.Join(context.Cause(ctx), err)
	}
	c.results = results
	return text, len(results) > 0 && !stopped, context.Cause(ctx)
}
