//go:build !linux

package engine

// reserve reserves nothing: memories are slices.
func reserve(uint64) region { return region{} }

func (r *region) extend(uint64) bool { return false }

func (r *region) discard(b []byte) bool {
	wipe(b)
	return true
}

func (r *region) release() { *r = region{} }

// image is a snapshot that can be mapped over a memory; there is none here.
type image struct{}

func newImage([]byte, int64) *image { return nil }

func (i *image) weight() int64 { return 0 }

func (i *image) fits(*region) bool { return false }

func (i *image) cover(*region) bool { return false }

func (i *image) putBack(*region) bool { return false }

func (i *image) tracks() bool { return false }

func (i *image) close() {}

// borrow lends nothing: memory is Go's.
func borrow(int) (b []byte, back func()) { return nil, nil }
