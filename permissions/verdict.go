package permissions

import "fmt"

// Verdict is the answer to whether something may happen. Verdicts are ordered
// by strictness, None < Allow < Ask < Deny, so that joining opinions is taking
// the greatest.
type Verdict uint8

// The verdicts.
const (
	// None is no opinion.
	None Verdict = iota
	Allow
	// Ask needs a person.
	Ask
	Deny
)

var verdictNames = [...]string{None: "none", Allow: "allow", Ask: "ask", Deny: "deny"}

// Join returns the stricter of two verdicts.
func (v Verdict) Join(w Verdict) Verdict { return max(v, w) }

// Worse reports whether v is stricter than w.
func (v Verdict) Worse(w Verdict) bool { return v > w }

// String returns "none", "allow", "ask" or "deny".
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

// MarshalText writes the verdict as String does.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what String writes.
func (v *Verdict) UnmarshalText(text []byte) error {
	for i, name := range verdictNames {
		if string(text) == name {
			*v = Verdict(i)
			return nil
		}
	}
	return fmt.Errorf("%q is not a verdict; there are none, allow, ask and deny", text)
}
