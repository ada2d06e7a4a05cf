//go:build wasip1

// Command gojson is a benchmark guest built with the standard Go compiler: it
// reads a JSON document with encoding/json, changes it, and writes it again.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared
package main

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
)

type document struct {
	Path    string  `json:"path"`
	Limit   int     `json:"limit"`
	Entries []entry `json:"entries"`
}

type entry struct {
	Name   string   `json:"name"`
	Size   int      `json:"size"`
	Score  float64  `json:"score"`
	Tags   []string `json:"tags"`
	Hidden bool     `json:"hidden"`
}

var input []byte

// prepare makes a document of about n bytes.
//
//go:wasmexport prepare
func prepare(n uint32) {
	d := document{Path: "/srv/data49/file", Limit: 2000}
	// An entry is about 90 bytes of JSON.
	for i := range int(n / 90) {
		d.Entries = append(d.Entries, entry{
			Name:   fmt.Sprintf("entry %d\n\"é\"", i),
			Size:   i * 7919 % (1 << 30),
			Score:  float64(i*613%(1<<20)) / 1024,
			Tags:   []string{"context", "module", "offset"},
			Hidden: i%2 == 0,
		})
	}
	input = mustMarshal(d)
}

// run does the work once and returns a checksum of its result.
//
//go:wasmexport run
func run() uint32 {
	var d document
	if err := json.Unmarshal(input, &d); err != nil {
		panic(err)
	}
	d.Limit++
	for i := range d.Entries {
		e := &d.Entries[i]
		e.Size++
		e.Hidden = !e.Hidden
		e.Tags = append(e.Tags, "seen")
	}
	return crc32.ChecksumIEEE(mustMarshal(d))
}

func mustMarshal(d document) []byte {
	out, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	return out
}

func main() {}
