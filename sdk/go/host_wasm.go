//go:build wasip1 || tinygo.wasm

package toolquay

import "unsafe"

// The imports of the direct ABI, version 1.

//go:wasmimport toolquay:host/1 submit
func importSubmit(ptr unsafe.Pointer, size uint32) uint32

//go:wasmimport toolquay:host/1 wait
func importWait(ids unsafe.Pointer, count uint32) uint64

//go:wasmimport toolquay:host/1 read
func importRead(id uint32, ptr unsafe.Pointer, room uint32) int32

//go:wasmimport toolquay:host/1 cancel
func importCancel(id uint32)

//go:wasmimport toolquay:host/1 progress
func importProgress(ptr unsafe.Pointer, size uint32)

// imports is the host this module runs in.
type imports struct{}

func (imports) Submit(message []byte) uint32 {
	return importSubmit(unsafe.Pointer(unsafe.SliceData(message)), uint32(len(message)))
}

func (imports) Wait(ids []uint32) (int, int) {
	answer := importWait(unsafe.Pointer(unsafe.SliceData(ids)), uint32(len(ids)))
	return int(uint32(answer)), int(answer >> 32)
}

func (imports) Read(id uint32, p []byte) int {
	return int(importRead(id, unsafe.Pointer(unsafe.SliceData(p)), uint32(len(p))))
}

func (imports) Cancel(id uint32) { importCancel(id) }

func (imports) Progress(message []byte) {
	importProgress(unsafe.Pointer(unsafe.SliceData(message)), uint32(len(message)))
}

// The collector does not see what the host holds. These variables keep it
// alive: inbox what alloc gave out until it is called for, outbox the last
// answer until the next export is entered.
var (
	inbox  [][]byte
	outbox []byte
)

func alloc(size uint32) uint32 {
	outbox = nil
	block := make([]byte, max(size, 1)) // a block of no bytes would have no address
	inbox = append(inbox, block)
	return address(block)
}

// received takes the block a message was written to out of the inbox. A pointer
// that alloc never gave out is an empty message, which no reader accepts.
func received(ptr, size uint32) []byte {
	outbox = nil
	for i, block := range inbox {
		if address(block) == ptr && int(size) <= len(block) {
			last := len(inbox) - 1
			inbox[i], inbox[last] = inbox[last], nil
			inbox = inbox[:last]
			return block[:size]
		}
	}
	return nil
}

// sent hands an answer to the host: pointer in the high half, length in the low.
func sent(message []byte) uint64 {
	outbox = message
	return uint64(address(message))<<32 | uint64(uint32(len(message)))
}

func address(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

func exportedCall(ptr, size uint32) uint64 {
	return sent(serveCall(imports{}, received(ptr, size)))
}

func exportedAssess(ptr, size uint32) uint64 {
	return sent(serveAssess(received(ptr, size)))
}
