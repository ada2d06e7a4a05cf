package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
)

// TestCheckCompiles: what nothing else is wrong with is compiled, which finds wrong code.
func TestCheckCompiles(t *testing.T) {
	t.Parallel()
	module := "\x00asm\x01\x00\x00\x00" +
		"\x01\x0c\x02\x60\x01\x7f\x01\x7f\x60\x02\x7f\x7f\x01\x7e" + // types: i32 to i32, two i32 to i64
		"\x03\x03\x02\x00\x01" + "\x05\x03\x01\x00\x01" + // two functions, a memory
		"\x07\x19\x03\x06memory\x02\x00\x05alloc\x00\x00\x04call\x00\x01" +
		"\x0a\x0b\x02\x04\x00\x41\x00\x0b\x04\x00\x41\x00\x0b" // each gives an i32
	dir := t.TempDir()
	toml := "manifest = 1\nname = \"one\"\nversion = \"1.0.0\"\n[[tools]]\nname = \"Show\"\ninput_schema = '{\"type\":\"object\"}'\n"
	for name, content := range map[string]string{abi.ManifestFile: toml, "one.wasm": module} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := plugins.Open(plugins.Options{
		Sources: []plugins.Source{plugins.Dir(plugins.OriginFlag, dir)}, Runners: []plugins.Runner{direct.New(direct.Options{})},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close(t.Context())
	p := set.Plugins()[0]
	if c := check(t.Context(), p); len(p.Check()) != 0 || c.OK || len(c.Diagnostics) != 1 {
		t.Errorf("without compiling: %v; with it: %+v", p.Check(), c)
	}
}
