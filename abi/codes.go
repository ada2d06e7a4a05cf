package abi

import "slices"

// Blame says whose fault a failure is.
type Blame string

// Whose fault a failure can be.
const (
	BlameInput  Blame = "input"  // the arguments of the call
	BlameRules  Blame = "rules"  // nobody's: a rule, hook or person said no
	BlamePlugin Blame = "plugin" // the guest or its manifest
	BlameWorld  Blame = "world"  // what is out there, or who cancelled
	BlameHost   Blame = "host"   // a defect of ours
)

// CodeInfo describes one code, for documentation and for readers.
type CodeInfo struct {
	Code    Code
	Blame   Blame
	Meaning string
}

var codes = []CodeInfo{
	{CodeInvalidInput, BlameInput, "the arguments do not fit the schema or each other"},
	{CodeNotFound, BlameInput, "no such file, tool or task"},
	{CodeIsDirectory, BlameInput, "a directory where a file was needed"},
	{CodeNotDirectory, BlameInput, "no directory where one was needed"},
	{CodeNotRegular, BlameInput, "a device, FIFO, socket or kernel file"},
	{CodeNotText, BlameInput, "binary where text was needed"},
	{CodeTooLarge, BlameInput, "over a size limit"},
	{CodeUnknownTool, BlameInput, "no tool of that name"},
	{CodeDisabled, BlameInput, "the tool exists but is switched off"},
	{CodeNotRead, BlameInput, "the session has not read what is to be written over"},
	{CodeSameText, BlameInput, "what is to be written is there already"},
	{CodeNoMatch, BlameInput, "the text to replace is not in the file"},
	{CodeNotUnique, BlameInput, "the text to replace is there more than once"},
	{CodeDenied, BlameRules, "a rule, hook or person said no"},
	{CodeNeedsApproval, BlameRules, "a person must decide and none did"},
	{CodeUndeclared, BlamePlugin, "a capability the manifest does not declare"},
	{CodeNotGranted, BlamePlugin, "a capability that is declared but nobody consented to"},
	{CodeProtocol, BlamePlugin, "a broken message or pointer"},
	{CodeTrap, BlamePlugin, "the guest trapped or exited"},
	{CodeLimit, BlamePlugin, "a limit of memory, output, log lines or calls"},
	{CodeTimeout, BlamePlugin, "a limit of time"},
	{CodeLoad, BlamePlugin, "the module could not be loaded"},
	{CodeReentry, BlamePlugin, "a kept instance was called by itself"},
	{CodeChanged, BlameWorld, "what was judged is no longer what is there"},
	{CodeIO, BlameWorld, "the system refused or failed"},
	{CodeUnsupported, BlameWorld, "this host or platform has no such thing"},
	{CodeCancelled, BlameWorld, "the call was given up"},
	{CodeInterrupted, BlameWorld, "the user wrote something new, and the call was ended for it"},
	{CodeInternal, BlameHost, "a defect of the host"},
}

// Codes lists every code of version 1, in the order of whose fault it is.
func Codes() []CodeInfo { return slices.Clone(codes) }

// Known reports whether c is a code of version 1.
func (c Code) Known() bool { return c.info() != nil }

// Blame says whose fault a failure of this code is. A code that is not known
// counts as [CodeInternal].
func (c Code) Blame() Blame {
	if i := c.info(); i != nil {
		return i.Blame
	}
	return BlameHost
}

func (c Code) info() *CodeInfo {
	i := slices.IndexFunc(codes, func(i CodeInfo) bool { return i.Code == c })
	if i < 0 {
		return nil
	}
	return &codes[i]
}
