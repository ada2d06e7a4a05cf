package toolquay

import (
	"io"
	"time"
)

// Now asks the host for the time, in UTC. It needs the capability clock.now, which
// nobody has to grant. Unlike [time.Now] it works in every module and is told by the
// host, so that tests and embedders can set it.
func (c *Call) Now() (time.Time, error) {
	a, err := start[ClockOK](c, CapClockNow, none{}).Wait()
	if err != nil {
		return time.Time{}, err
	}
	return time.Unix(0, a.OK.Unix).UTC(), a.Close()
}

// Random fills p with random bytes of the host's that nobody can foresee. It needs the
// capability random.bytes, which nobody has to grant.
func (c *Call) Random(p []byte) error {
	for len(p) > 0 {
		piece := p[:min(len(p), MaxRandom)]
		a, err := start[RandomOK](c, CapRandomBytes, &RandomArgs{Length: len(piece)}).Wait()
		if err == nil {
			_, err = io.ReadFull(a, piece)
		}
		if err != nil {
			return err
		}
		if err := a.Close(); err != nil {
			return err
		}
		p = p[len(piece):]
	}
	return nil
}

// none are the arguments of an operation that takes none.
type none struct{}

// AppendJSON appends an empty object.
func (none) AppendJSON(dst []byte) []byte { return append(dst, "{}"...) }
