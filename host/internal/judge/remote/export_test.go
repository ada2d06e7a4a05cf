package remote

import "time"

// Hasten makes the client wait hardly at all between tries.
func (c *Client) Hasten() { c.wait = 2 * time.Millisecond }
