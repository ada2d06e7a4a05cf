// Package checkline writes JSON objects as lines that each carry a checksum, for logs
// that several processes append to and a crash may tear.
package checkline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

const (
	sumDigits = 16 // of a SHA-256 in hexadecimal: it tells of damage, not of malice
	beforeSum = `,"sum":"`
	tail      = len(beforeSum) + sumDigits + len(`"}`)
)

// Encode makes a line, newline included, of what encodes to a JSON object with fields
// in it, and that has no more than most bytes.
func Encode(v any, most int) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(text)+tail > most {
		return nil, fmt.Errorf("a record of %d bytes is over the limit of %d", len(text), most-tail)
	}
	return append(Seal(text[:len(text)-1]), '\n'), nil
}

// Seal ends an object, which its last brace is missing from, with its checksum.
func Seal(open []byte) []byte {
	return append(bytes.Clone(open), (beforeSum + sum(open) + `"}`)...)
}

// Decode reads a line without its newline. It reports false of one that Encode did not
// write.
func Decode(text []byte, v any) bool {
	if len(text) <= tail {
		return false
	}
	open := text[:len(text)-tail]
	if string(text[len(open):]) != beforeSum+sum(open)+`"}` {
		return false
	}
	return json.Unmarshal(append(bytes.Clone(open), '}'), v) == nil
}

func sum(text []byte) string {
	full := sha256.Sum256(text)
	return hex.EncodeToString(full[:])[:sumDigits]
}
