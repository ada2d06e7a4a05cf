package abi

import "strconv"

// UnmarshalBool lets a manifest write the two constant traits as booleans:
// read_only = true.
func (t *Trait) UnmarshalBool(b bool) error {
	*t = Trait(strconv.FormatBool(b))
	return nil
}
