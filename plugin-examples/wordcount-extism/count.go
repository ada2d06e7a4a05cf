// Command wordcount is a plain Extism plugin: it is written with Extism's Go
// PDK and knows nothing of Toolquay but the one host function that files are
// read through.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

func main() {}

// Counts is what is counted of a text.
type Counts struct {
	Lines      int `json:"lines"`
	Words      int `json:"words"`
	Characters int `json:"characters"`
	Bytes      int `json:"bytes"`
}

func count(text []byte) Counts {
	return Counts{
		Lines:      bytes.Count(text, []byte("\n")),
		Words:      len(bytes.Fields(text)),
		Characters: utf8.RuneCount(text),
		Bytes:      len(text),
	}
}

func (c Counts) String() string {
	return fmt.Sprintf("%d lines, %d words, %d characters, %d bytes", c.Lines, c.Words, c.Characters, c.Bytes)
}

// readRequest is the message that asks the host for a file: 8 bytes of header
// (version 1, the head's length), then a JSON head.
func readRequest(path string) ([]byte, error) {
	head, err := json.Marshal(map[string]any{
		"capability": "fs.read",
		"args":       map[string]string{"path": path},
	})
	if err != nil {
		return nil, err
	}
	message := binary.LittleEndian.AppendUint32([]byte{1, 0, 0, 0}, uint32(len(head)))
	return append(message, head...), nil
}

var errBroken = errors.New("the host's answer is broken")

// readAnswer takes the host's message apart: a head that holds ok or an error,
// then the body behind a header of its own.
func readAnswer(message []byte) ([]byte, error) {
	if len(message) < 8 || message[0] != 1 {
		return nil, errBroken
	}
	size := int(binary.LittleEndian.Uint32(message[4:]))
	if size > len(message)-8 {
		return nil, errBroken
	}
	var head struct {
		Error *struct{ Code, Message string }
	}
	if err := json.Unmarshal(message[8:8+size], &head); err != nil {
		return nil, errBroken
	}
	if head.Error != nil {
		return nil, fmt.Errorf("%s (%s)", head.Error.Message, head.Error.Code)
	}
	rest := message[8+size:]
	if len(rest) == 0 {
		return nil, nil
	}
	if len(rest) < 8 {
		return nil, errBroken
	}
	return rest[8:], nil
}
