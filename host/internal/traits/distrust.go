package traits

import "sync"

// Distrust remembers the tools of a session whose claims about themselves were found
// false. The zero value is none. It is safe for concurrent use.
type Distrust struct {
	mu sync.Mutex
	// writing are tools that are not as read-only as they say, and touching those that
	// touch more than they lock.
	writing, touching map[string]bool
}

func (d *Distrust) writes(tool string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.writing[tool]
}

func (d *Distrust) touches(tool string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.touching[tool]
}

func (d *Distrust) foundWriting(tool string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.writing == nil {
		d.writing = make(map[string]bool)
	}
	d.writing[tool] = true
}

// foundTouching reports whether that is news.
func (d *Distrust) foundTouching(tool string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.touching[tool]
	if d.touching == nil {
		d.touching = make(map[string]bool)
	}
	d.touching[tool] = true
	return !known
}
