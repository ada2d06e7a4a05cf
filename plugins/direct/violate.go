package direct

import (
	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/abi"
)

// violate ends the call: the guest broke the protocol. wazero turns the panic
// into the error of the guest function's call.
func violate(format string, args ...any) {
	panic(abi.Errorf(abi.CodeProtocol, "the plugin "+format, args...))
}

// view returns the guest's memory at ptr, which stays the guest's.
func view(mod api.Module, what string, ptr, size uint32) []byte {
	b, ok := mod.Memory().Read(ptr, size)
	if !ok {
		violate("passed %s a pointer outside its memory: %d bytes at %#x of %d", what, size, ptr, mod.Memory().Size())
	}
	return b
}
