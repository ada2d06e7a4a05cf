package plugins

import (
	"time"

	"github.com/toolquay/toolquay/plugins/internal/discovery"
)

// ForgeIndex makes an index tell a lie about one plugin: of its manifest, or of
// its tool.
func ForgeIndex(content []byte, dir, entry, lie string) ([]byte, error) {
	findings, err := discovery.DecodeIndex(content, dir)
	if err != nil {
		return nil, err
	}
	pointers := make([]*discovery.Finding, len(findings))
	for i := range findings {
		f := &findings[i]
		pointers[i] = f
		switch {
		case f.Entry != entry:
		case lie == "manifest":
			f.Manifest[0] ^= 1
		default:
			f.Summary.Tools[0] = []string{"Forged"}
		}
	}
	return discovery.EncodeIndex(pointers, dir), nil
}

// CheckUntil is Check where the examples have until then.
func (p *Plugin) CheckUntil(then time.Time) []Diagnostic { return check(p, then) }

// Parts counts the plugins that a session keeps something of.
func (s *Session) Parts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.parts)
}
