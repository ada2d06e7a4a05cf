// Package cron is the capability session.cron: prompts that come by the clock. The session has
// them; here is what a call of it may.
package cron
