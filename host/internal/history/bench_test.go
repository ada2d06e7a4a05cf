package history_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/history"
)

// BenchmarkKeep keeps source-like files, each other than the one before.
func BenchmarkKeep(b *testing.B) {
	for _, size := range []int{10 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			var text strings.Builder
			for i := 0; text.Len() < size; i++ {
				fmt.Fprintf(&text, "\tif err := step%d(ctx, %x); err != nil {\n\t\treturn err\n\t}\n", i, sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
			}
			content := []byte(text.String()[:size])
			r := newRoom(b, history.Options{})
			b.SetBytes(int64(size))
			i := uint64(0)
			for b.Loop() {
				i++
				binary.BigEndian.PutUint64(content, i)
				if _, err := r.Keep(b.Context(), capability.Write{
					Path: r.path("a"), Before: bytes.NewReader(content), BeforeSize: int64(size),
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
