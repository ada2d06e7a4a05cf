package plugins

import "time"

// EncodeIndex writes an index of one plugin, whose manifest is given.
func EncodeIndex(dir, entry string, toml []byte) ([]byte, error) {
	m, err := ParseManifest("plugin.toml", toml, nil)
	if err != nil {
		return nil, err
	}
	f := &finding{entry: entry, completed: true, manifestAt: stamp{size: 1, modified: -2, changed: 3}, summary: summarise(m, moduleOf(m))}
	return encodeIndex([]*finding{f}, dir), nil
}

// DecodeIndex reads an index and writes it again.
func DecodeIndex(content []byte, dir string) ([]byte, error) {
	findings, err := decodeIndex(content, dir)
	if err != nil {
		return nil, err
	}
	pointers := make([]*finding, len(findings))
	for i := range findings {
		pointers[i] = &findings[i]
	}
	return encodeIndex(pointers, dir), nil
}

// DecodeIndexBody reads what lies between an index's head and its checksum.
func DecodeIndexBody(body string) bool {
	r := indexReader{rest: body}
	for n := r.count(); n > 0 && !r.broken; n-- {
		r.finding(new(finding))
	}
	return !r.broken && r.rest == ""
}

// ForgeIndex makes an index tell a lie about one plugin: of its manifest, or of
// its tool.
func ForgeIndex(content []byte, dir, entry, lie string) ([]byte, error) {
	findings, err := decodeIndex(content, dir)
	if err != nil {
		return nil, err
	}
	pointers := make([]*finding, len(findings))
	for i := range findings {
		f := &findings[i]
		pointers[i] = f
		switch {
		case f.entry != entry:
		case lie == "manifest":
			f.manifest[0] ^= 1
		default:
			f.summary.tools[0] = []string{"Forged"}
		}
	}
	return encodeIndex(pointers, dir), nil
}

// CheckUntil is Check where the examples have until then.
func (p *Plugin) CheckUntil(then time.Time) []Diagnostic { return p.check(then) }

// Parts counts the plugins that a session keeps something of.
func (s *Session) Parts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.parts)
}
