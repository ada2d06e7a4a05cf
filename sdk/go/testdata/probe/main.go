// Command probe is a guest for tests: see package probe.
package main

import "github.com/toolquay/toolquay/sdk/go/internal/probe"

func init() { probe.Register() }

func main() {}
