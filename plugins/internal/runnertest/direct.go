package runnertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

// Direct is the suite of the direct ABI, but for its runner. Its guests are in the
// testdata of package direct.
func Direct(testdata string) Suite {
	return Suite{
		Guest: func(tb testing.TB, name string) []byte {
			tb.Helper()
			b, err := os.ReadFile(filepath.Join(testdata, name+".wasm"))
			if err != nil {
				tb.Fatal(err)
			}
			return b
		},
		BadCalls: map[string]BadCall{
			"answer_outside":   {abi.CodeProtocol, []string{"outside its memory", "0x20000", "65536"}},
			"answer_huge":      {abi.CodeLimit, []string{"1073741824", "output = 1MiB"}},
			"answer_garbage":   {abi.CodeProtocol, []string{"version 116"}},
			"alloc_outside":    {abi.CodeProtocol, []string{"alloc", "0x7fff0000"}},
			"alloc_null":       {abi.CodeProtocol, []string{"alloc", "0x0"}},
			"progress_outside": {abi.CodeProtocol, []string{"progress", "outside its memory"}},
			"submit_outside":   {abi.CodeProtocol, []string{"submit", "outside its memory"}},
			"submit_at_start":  {abi.CodeProtocol, []string{"start function"}},
			"wait_unknown":     {abi.CodeProtocol, []string{"77", "never made"}},
		},
	}
}
