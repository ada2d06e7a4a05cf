package days

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"testing"
)

// The package is tides 1.0.0 in each registry, with a function that says how high the
// water stands at an hour.

// goProxy is what the go command asks a module proxy for.
func goProxy(t *testing.T) map[string]string {
	t.Helper()
	const mod = "module example.com/tides\n\ngo 1.21\n"
	const at = "/go/example.com/tides/@"
	info := `{"Version":"v1.0.0","Time":"2024-05-01T12:00:00Z"}`
	return map[string]string{
		at + "latest": info, at + "v/list": "v1.0.0\n", at + "v/v1.0.0.info": info, at + "v/v1.0.0.mod": mod,
		at + "v/v1.0.0.zip": zipped(t, map[string]string{
			"example.com/tides@v1.0.0/go.mod": mod,
			"example.com/tides@v1.0.0/tides.go": "// Package tides knows the water.\npackage tides\n\n" +
				"// Height is how high it stands at an hour, in metres.\nfunc Height(hour int) int { return hour % 6 }\n",
		}),
	}
}

// npmRegistry has the document of the package and its archive.
func npmRegistry(t *testing.T) map[string]string {
	t.Helper()
	archive := tarball(t, map[string]string{
		"package/package.json": `{"name":"tides","version":"1.0.0","main":"index.js","license":"MIT"}`,
		"package/index.js":     "exports.height = (hour) => hour % 6;\n",
	})
	sum := sha512.Sum512([]byte(archive))
	return map[string]string{
		"/npm/tides": fmt.Sprintf(`{"name":"tides","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"tides","version":"1.0.0",`+
			`"main":"index.js","dist":{"tarball":"@URL@/npm/tides/-/tides-1.0.0.tgz","integrity":"sha512-%s"}}}}`,
			base64.StdEncoding.EncodeToString(sum[:])),
		"/npm/tides/-/tides-1.0.0.tgz": archive,
	}
}

// cargoRegistry is a sparse index with its crate.
func cargoRegistry(t *testing.T) map[string]string {
	t.Helper()
	crate := tarball(t, map[string]string{
		"tides-1.0.0/Cargo.toml": "[package]\nname = \"tides\"\nversion = \"1.0.0\"\nedition = \"2021\"\n",
		"tides-1.0.0/src/lib.rs": "/// How high the water stands at an hour, in metres.\npub fn height(hour: u32) -> u32 {\n    hour % 6\n}\n",
	})
	return map[string]string{
		"/cargo/config.json":             `{"dl":"@URL@/cargo/dl"}`,
		"/cargo/ti/de/tides":             fmt.Sprintf(`{"name":"tides","vers":"1.0.0","deps":[],"cksum":"%x","features":{},"yanked":false}`+"\n", sha256.Sum256([]byte(crate))),
		"/cargo/dl/tides/1.0.0/download": crate,
	}
}

// pypi is a simple index with a wheel.
func pypi(t *testing.T) map[string]string {
	t.Helper()
	const wheel = "tides-1.0.0-py3-none-any.whl"
	body := zipped(t, map[string]string{
		"tides.py":                       "def height(hour):\n    return hour % 6\n",
		"tides-1.0.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tides\nVersion: 1.0.0\n",
		"tides-1.0.0.dist-info/WHEEL":    "Wheel-Version: 1.0\nGenerator: days\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"tides-1.0.0.dist-info/RECORD":   "tides.py,,\ntides-1.0.0.dist-info/METADATA,,\ntides-1.0.0.dist-info/WHEEL,,\ntides-1.0.0.dist-info/RECORD,,\n",
	})
	return map[string]string{
		"/pypi/simple/tides/":  fmt.Sprintf(`<!DOCTYPE html><html><body><a href="@URL@/pypi/files/%s#sha256=%x">%[1]s</a></body></html>`, wheel, sha256.Sum256([]byte(body))),
		"/pypi/files/" + wheel: body,
	}
}

func zipped(t *testing.T, files map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func tarball(t *testing.T, files map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []interface{ Close() error }{w, z} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}
