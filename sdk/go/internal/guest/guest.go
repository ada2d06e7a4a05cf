// Package guest is the seam between package toolquay and what it runs in: a
// real host, or the one of package toolquaytest.
package guest

// Host is what a guest imports. See the ABI for the meaning of each.
type Host interface {
	Submit(message []byte) (id uint32)
	Wait(ids []uint32) (index int, ready int)
	// Read returns 0 at the end and -1 where the answer broke off.
	Read(id uint32, p []byte) int
	Cancel(id uint32)
	Progress(message []byte)
}

// Call and Assess run the registered tools. Package toolquay sets them; they
// are here so that package toolquaytest reaches them and plugins do not.
var (
	Call   func(h Host, message []byte) []byte
	Assess func(message []byte) []byte
)
