// Package guestclock counts the time that guests themselves run, for every
// runner of plugins.
package guestclock

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrOutOfTime is the cause of a context whose guest used its time up.
var ErrOutOfTime = errors.New("the plugin's time is used up")

// Clock counts the time a guest itself runs and stops it when that is used up.
// It stands still while the guest waits for the host, so that a slow disk or a
// person who thinks is not the plugin's fault.
type Clock struct {
	mu      sync.Mutex
	left    time.Duration
	since   time.Time
	running bool
	timer   *time.Timer
}

// Start runs cancel(ErrOutOfTime) once the guest has run for limit.
func Start(limit time.Duration, cancel context.CancelCauseFunc) *Clock {
	c := &Clock{left: limit, since: time.Now(), running: true}
	c.timer = time.AfterFunc(limit, func() { cancel(ErrOutOfTime) })
	return c
}

// Pause stops counting. Pausing a paused clock does nothing.
func (c *Clock) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running {
		return
	}
	c.running = false
	c.timer.Stop()
	c.left -= time.Since(c.since)
}

// Resume counts on.
func (c *Clock) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		return
	}
	c.running = true
	c.since = time.Now()
	c.timer.Reset(max(c.left, 0))
}

// Stop ends the clock for good.
func (c *Clock) Stop() { c.Pause() }
