// Package procfs tells whether /proc is mounted where the host cannot do without it: in
// jails and containers it may be missing, and what fails then says something else.
package procfs
