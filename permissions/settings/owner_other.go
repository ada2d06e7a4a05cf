//go:build !unix

package settings

import (
	"errors"
	"io/fs"
)

// ownedByRoot refuses every policy: access control lists are not read here, and
// by default anybody may make directories where the policy is looked for.
func ownedByRoot(fs.FileInfo) error {
	return errors.New("who may write to it cannot be told on this system, so that it cannot be a policy")
}
