package approvals

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/toolquay/toolquay/internal/privatedir"
)

const fileMode = 0o600

// kind is what a file of a store is.
type kind string

const (
	kindQuestion  kind = "question"
	kindAnswer    kind = "answer"
	kindUsed      kind = "used"
	kindTemporary kind = "temporary"
)

// temporaryPrefix begins the names of files that are being written, here and in
// package atomicfile.
const temporaryPrefix = ".tmp-"

// name is the name of a file: KEY.ID.KIND.
type name struct {
	key, id string
	kind    kind
}

func (n name) of(k kind) name { n.kind = k; return n }

func (n name) file() string {
	if n.kind == kindTemporary {
		return n.id
	}
	return n.key + "." + n.id + "." + string(n.kind)
}

func temporaryName() name {
	return name{id: temporaryPrefix + rand.Text(), kind: kindTemporary}
}

// parseName reads a file's name. What no store would write is not read at all.
func parseName(file string) (name, bool) {
	if strings.HasPrefix(file, temporaryPrefix) {
		return name{id: file, kind: kindTemporary}, true
	}
	parts := strings.Split(file, ".")
	if len(parts) != 3 {
		return name{}, false
	}
	n := name{key: parts[0], id: parts[1], kind: kind(parts[2])}
	raw, err := hex.DecodeString(n.key)
	known := n.kind == kindQuestion || n.kind == kindAnswer || n.kind == kindUsed
	return n, known && err == nil && len(raw) == 8 && validID(n.id)
}

// maxID is the longest id.
const maxID = 64

// validID reports whether an id can be part of a file's name, whatever the
// system: it is of letters and digits.
func validID(id string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	return id != "" && len(id) <= maxID && strings.Trim(id, letters) == ""
}

func isQuestion(n name) bool { return n.kind == kindQuestion }

// readRegular reads a regular file of reasonable size that nobody else can write
// to.
func readRegular(path string) ([]byte, error) {
	f, info, err := privatedir.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%s: its mode is %v: others may write to it", path, info.Mode().Perm())
	}
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(content) > maxFile {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return content, err
}
