// Package locks kills processes that hold the host's locks. It has no code but tests.
package locks
