package sessiondir

import (
	"regexp"
	"testing"
)

// FuzzNames holds what is looked at by hand against the expressions that say the same.
func FuzzNames(f *testing.F) {
	plainForm := regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?$`)
	deviceForm := regexp.MustCompile(`^(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)
	long := "abcdefghijklmnopqrstuvwxyz.ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
	for _, id := range []string{
		"", "a", "A-1_b.c", ".", ".a", "-a", "_a", "a.", "a-", "a_", "a..b", "a/b", `a\b`, "a b", "ä", "a\n", "a\x00", "a\xff",
		long, long + "x", "con", "CON.txt", "con1", "Nul.", "aux-", "com", "COM1", "com12", "lpt0.x", "lpt", "prn.a.b", "icon", "con\n",
	} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if got, want := plain(id), plainForm.MatchString(id); got != want {
			t.Errorf("%q is taken for a plain id: %t, want %t", id, got, want)
		}
		if got, want := device(id), deviceForm.MatchString(id); got != want {
			t.Errorf("%q is taken for a device: %t, want %t", id, got, want)
		}
	})
}
