// Package cron keeps prompts that come due by the clock.
package cron
