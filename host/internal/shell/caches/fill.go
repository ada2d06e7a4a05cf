package caches

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// filling completes a project's layer of one cache.
type filling struct {
	Options
	request *Request
	layer   *Layer
	// root is the layer's directory, and name that of the cache in it; dir is its path.
	root      *os.Root
	name, dir string
	// lower is the user's cache.
	lower string
}

// set adds a setting of the environment.
func (f *filling) set(name, value string) {
	f.layer.Environment = append(f.layer.Environment, name+"="+value)
}

// link puts a link to something of the user's into the layer, if it is there. A link of an
// earlier command's, or what such a command put in its place, stays.
func (f *filling) link(target, name string) {
	if _, err := os.Stat(target); err != nil {
		return
	}
	name = path.Join(f.name, name)
	// Where it fails, the tool gets anew what it does not find.
	_ = f.root.MkdirAll(path.Dir(name), 0o700)
	_ = f.root.Symlink(target, name)
}

// fillGo has go download modules from the user's cache first, which works without a network,
// too. What go installs goes into the layer.
func fillGo(f *filling) {
	gopath := filepath.Join(f.layer.Dir, "go")
	if users := lookup(f.request.Environment, "GOPATH"); users != "" {
		gopath += string(filepath.ListSeparator) + users
	} else if f.Home != "" {
		gopath += string(filepath.ListSeparator) + filepath.Join(f.Home, "go")
	}
	f.set("GOPATH", gopath)
	f.toolchains()
	downloads := filepath.Join(f.lower, "cache", "download")
	if _, err := os.Stat(downloads); err != nil {
		return
	}
	proxies := lookup(f.request.Environment, "GOPROXY")
	if proxies == "" {
		proxies = f.goSetting("GOPROXY", f.request.Environment)
	}
	f.set("GOPROXY", fileURL(downloads)+","+proxies)
	if f.request.Offline {
		// Private modules are in the user's cache, too. Nothing else can be asked for them.
		f.set("GONOPROXY", "none")
	}
}

// fileURL is a directory as an entry of GOPROXY.
func fileURL(dir string) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}
	return strings.NewReplacer(",", "%2C", "|", "%7C").Replace(u.String())
}

// toolchains links the toolchains that the user has downloaded. The checksum database, by which
// go would check them again, may be out of reach.
func (f *filling) toolchains() {
	const module = "golang.org/toolchain"
	found, _ := filepath.Glob(filepath.Join(globEscaped(f.lower), module+"@*")) // the pattern is well-formed
	for _, dir := range found {
		_, version, _ := strings.Cut(filepath.Base(dir), "@")
		versions := path.Join("cache/download", module, "@v", version)
		for _, suffix := range []string{".info", ".mod", ".ziphash"} {
			f.link(filepath.Join(f.lower, versions+suffix), versions+suffix)
		}
		f.link(dir, module+"@"+version)
	}
}

func globEscaped(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// goProxies is what go uses where nothing is set.
const goProxies = "https://proxy.golang.org,direct"

// goSetting is what `go env -w` or the installation has set, or go's default.
func (f *filling) goSetting(name string, environ []string) string {
	files := []string{lookup(environ, "GOENV"), filepath.Join(f.Home, ".config/go/env")}
	if config := lookup(environ, "XDG_CONFIG_HOME"); filepath.IsAbs(config) {
		files[1] = filepath.Join(config, "go/env")
	}
	for _, dir := range filepath.SplitList(lookup(environ, "PATH")) {
		if program, err := filepath.EvalSymlinks(filepath.Join(dir, "go")); err == nil {
			files = append(files, filepath.Join(filepath.Dir(program), "..", "go.env"))
			break
		}
	}
	for _, file := range files {
		if content, err := os.ReadFile(file); err == nil && file != "" {
			if value := lookup(strings.Split(string(content), "\n"), name); value != "" {
				return strings.TrimSpace(value)
			}
		}
	}
	return goProxies
}

// fillUV has uv copy what it installs: a layer is mounted apart, so that it cannot link, and uv
// would warn of that each time.
func fillUV(f *filling) {
	const mode = "UV_LINK_MODE"
	if lookup(f.request.Environment, mode) == "" {
		f.set(mode, "copy")
	}
}

// fillMaven has maven look into the user's repository after the layer's, from version 3.9 on.
func fillMaven(f *filling) {
	options := strings.TrimSpace(lookup(f.request.Environment, "MAVEN_OPTS"))
	add := func(name, value string) {
		if !strings.ContainsAny(value, " \t\"'\\") { // mvn splits them at blanks
			options = strings.TrimSpace(options + " -D" + name + "=" + value)
		}
	}
	add("maven.repo.local", f.dir)
	add("maven.repo.local.tail", f.lower)
	f.set("MAVEN_OPTS", options)
}

// fillGradle has gradle read the dependencies that the user has downloaded.
func fillGradle(f *filling) {
	if lookup(f.request.Environment, "GRADLE_RO_DEP_CACHE") != "" {
		return
	}
	if _, err := os.Stat(filepath.Join(f.lower, "caches", "modules-2")); err == nil {
		f.set("GRADLE_RO_DEP_CACHE", filepath.Join(f.lower, "caches"))
	}
}
