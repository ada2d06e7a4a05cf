//go:build wasip1

package main

import "github.com/extism/go-pdk"

// hostCapability asks the host to do a capability. It takes and returns Extism
// memory blocks that hold messages.
//
//go:wasmimport extism:host/user toolquay_capability
func hostCapability(request uint64) uint64

// countText is the tool CountText. It gets the text alone, as its manifest says, and
// needs nothing of the world.
//
//go:wasmexport count_text
func countText() int32 {
	return answer(count(pdk.Input()))
}

// countFile is the tool CountFile, which reads through the host.
//
//go:wasmexport count_file
func countFile() int32 {
	var in struct {
		Path string `json:"file_path"`
	}
	if err := pdk.InputJSON(&in); err != nil {
		return fail(err)
	}
	request, err := readRequest(in.Path)
	if err != nil {
		return fail(err)
	}
	block := pdk.AllocateBytes(request)
	defer block.Free()
	text, err := readAnswer(pdk.ParamBytes(hostCapability(block.Offset())))
	if err != nil {
		return fail(err)
	}
	return answer(count(text))
}

func answer(c Counts) int32 {
	pdk.OutputString(c.String())
	return 0
}

func fail(err error) int32 {
	pdk.SetError(err)
	return 1
}
