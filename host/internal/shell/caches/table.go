package caches

// Cache is a cache that a tool keeps in the user's home.
type Cache struct {
	// Tool is what keeps it, and Dir its directory in a layer.
	Tool, Dir string
	// Variable moves it; Default is where it lies without that. A path that begins with
	// "cache/" lies in the user's directory for caches, one with "~/" in the home.
	Variable, Default string
	// Unless names a file of the project that says that its own settings move the cache.
	Unless string
	// fill completes a layer for a tool that can use the user's cache without changing it, or
	// needs more than the variable; nil if there is nothing to do.
	fill func(f *filling)
}

// Table lists the known caches.
var Table = []Cache{
	{Tool: "go", Dir: "go-build", Variable: "GOCACHE", Default: "cache/go-build"},
	{Tool: "go", Dir: "go/pkg/mod", Variable: "GOMODCACHE", Default: "~/go/pkg/mod", fill: fillGo},
	{Tool: "golangci-lint", Dir: "golangci-lint", Variable: "GOLANGCI_LINT_CACHE", Default: "cache/golangci-lint"},
	{Tool: "staticcheck", Dir: "staticcheck", Variable: "STATICCHECK_CACHE", Default: "cache/staticcheck"},
	{Tool: "npm", Dir: "npm", Variable: "npm_config_cache", Default: "~/.npm"},
	{Tool: "pnpm", Dir: "pnpm", Variable: "PNPM_HOME", Default: "~/.local/share/pnpm"},
	{Tool: "yarn", Dir: "yarn", Variable: "YARN_CACHE_FOLDER", Default: "cache/yarn", Unless: ".yarnrc.yml"},
	{Tool: "yarn", Dir: "yarn-berry", Variable: "YARN_GLOBAL_FOLDER", Default: "~/.yarn/berry"},
	{Tool: "cargo", Dir: "cargo", Variable: "CARGO_HOME", Default: "~/.cargo", fill: fillCargo},
	{Tool: "pip", Dir: "pip", Variable: "PIP_CACHE_DIR", Default: "cache/pip"},
	{Tool: "uv", Dir: "uv", Variable: "UV_CACHE_DIR", Default: "cache/uv", fill: fillUV},
	{Tool: "maven", Dir: "maven", Default: "~/.m2/repository", fill: fillMaven},
	{Tool: "gradle", Dir: "gradle", Variable: "GRADLE_USER_HOME", Default: "~/.gradle", fill: fillGradle},
}
