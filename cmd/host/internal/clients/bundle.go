package clients

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The files of a bundle.
const (
	manifestFile = "manifest.json"
	entryFile    = "server/README.txt"
)

// cwdFlag is the flag that a bundle sets to the directory that its person chooses: programs with
// windows start servers in no directory of use.
const cwdFlag = "--cwd"

// manifest is the manifest of an MCPB bundle, version 0.3:
// https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md
type manifest struct {
	Manifest    string                `json:"manifest_version"`
	Name        string                `json:"name"`
	DisplayName string                `json:"display_name"`
	Version     string                `json:"version"`
	Description string                `json:"description"`
	Author      map[string]string     `json:"author"`
	Server      manifestServer        `json:"server"`
	Generated   bool                  `json:"tools_generated"`
	Compatible  map[string]any        `json:"compatibility"`
	UserConfig  map[string]userConfig `json:"user_config,omitempty"`
}

type manifestServer struct {
	Type       string        `json:"type"`
	EntryPoint string        `json:"entry_point"`
	Config     manifestStart `json:"mcp_config"`
}

type manifestStart struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

type userConfig struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// Manifest is the manifest of a bundle that starts a server, where it lies on this machine. The
// person who opens the bundle chooses the directory to work in, unless the arguments name one.
// version is that of toolquay.
func Manifest(s Server, goos, version string) []byte {
	m := manifest{
		Manifest: "0.3", Name: s.Name, DisplayName: "Toolquay", Version: semver(version),
		Description: "Toolquay's tools, behind your permission rules.",
		Author:      map[string]string{"name": "Toolquay"},
		Server:      manifestServer{"binary", entryFile, manifestStart{s.Command, s.Args}},
		Generated:   true,
		Compatible:  map[string]any{"platforms": []string{platform(goos)}},
	}
	chosen := func(arg string) bool { return arg == cwdFlag || strings.HasPrefix(arg, cwdFlag+"=") }
	if !slices.ContainsFunc(s.Args, chosen) {
		m.Server.Config.Args = append(slices.Clone(s.Args), cwdFlag+"=${user_config.directory}")
		m.UserConfig = map[string]userConfig{"directory": {
			"directory", "Directory", "The directory to work in. Your rules count there as everywhere.", true,
		}}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		panic(err) // it holds texts alone
	}
	return b.Bytes()
}

// platform is a GOOS as Node.js names it.
func platform(goos string) string {
	if goos == "windows" {
		return "win32"
	}
	return goos
}

var release = regexp.MustCompile(`^v?(\d+\.\d+\.\d+)`)

// semver is the release of a version as Go writes it, or 0.0.0.
func semver(version string) string {
	if m := release.FindStringSubmatch(version); m != nil {
		return m[1]
	}
	return "0.0.0"
}

// firstTime is the first that a zip file can tell: what a bundle has must not depend on when it
// was made.
var firstTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// Bundle packs a manifest as an MCPB bundle. Its bytes depend on the manifest alone.
func Bundle(manifest []byte, s Server) ([]byte, error) {
	readme := fmt.Sprintf("This bundle holds no program. It starts the toolquay that is installed at\n%s\n", s.Command)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, file := range []struct {
		name string
		body []byte
	}{{manifestFile, manifest}, {entryFile, []byte(readme)}} {
		f, err := w.CreateHeader(&zip.FileHeader{Name: file.name, Method: zip.Deflate, Modified: firstTime})
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(file.body); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// ReadBundle is the manifest of a bundle.
func ReadBundle(body []byte) ([]byte, error) {
	r, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, fmt.Errorf("it is not a bundle: %w", err)
	}
	f, err := r.Open(manifestFile)
	if err != nil {
		return nil, fmt.Errorf("it is not a bundle: %w", err)
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}
