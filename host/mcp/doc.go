// Package mcp serves the tools of a host over the Model Context Protocol, to clients of its
// revisions 2025-11-25 and 2026-07-28.
//
// It stands on the public face of package host, as a program that embeds the host does. Every
// call passes the host's checks: its arguments are held to the tool's schema by the host alone,
// and rules, hooks, judge and person decide as in any session.
package mcp
