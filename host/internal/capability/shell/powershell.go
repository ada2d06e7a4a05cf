package shell

import (
	"encoding/base64"
	"encoding/binary"
	"unicode/utf16"
)

// encoded is a command as PowerShell takes it without reading it as an argument first:
// UTF-16 in base64.
func encoded(command string) string {
	var units []byte
	for _, u := range utf16.Encode([]rune(command)) {
		units = binary.LittleEndian.AppendUint16(units, u)
	}
	return base64.StdEncoding.EncodeToString(units)
}

// powerShellArgs are the arguments of a PowerShell that runs one command. Without the
// format it would tell of errors in XML.
func powerShellArgs(program, command string) []string {
	return []string{program, "-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text", "-EncodedCommand", encoded(command)}
}
