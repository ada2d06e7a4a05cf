package toolquaytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	toolquay "github.com/toolquay/toolquay/sdk/go"
	"github.com/toolquay/toolquay/sdk/go/internal/toml"
	"github.com/toolquay/toolquay/sdk/go/wire"
)

// manifestFile is the name of a plugin's manifest.
const manifestFile = "plugin.toml"

// The host's limits where a manifest has none.
const (
	defaultOutput = 10 << 20
	defaultCalls  = 10_000
)

// manifest is what a plugin.toml holds a tool to.
type manifest struct {
	claims []claim
	tools  []contract
	config []configKey
	// output bounds the message that a call returns, in bytes, and calls the capability
	// calls of one.
	output, calls int64
}

// claim is one of [[capabilities]].
type claim struct {
	name  string
	scope []scopePattern
	texts []string
}

// contract is one of [[tools]].
type contract struct {
	name, schema string
	capabilities []string
	readOnly     bool
	strict       bool
}

// configKey is one of [[config]].
type configKey struct {
	name, kind, value string
	required          bool
}

// findManifest returns the text of the plugin.toml in the working directory, or in one
// above it up to the root of the module.
func findManifest() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, manifestFile))
		if !errors.Is(err, os.ErrNotExist) {
			return string(text), err
		}
		_, err = os.Stat(filepath.Join(dir, "go.mod"))
		if above := filepath.Dir(dir); err != nil && above != dir {
			dir = above
			continue
		}
		return "", errors.New("there is no " + manifestFile + " beside the test or above it in its module: write one, " +
			"name it with Host.Manifest, or hold the tools to none with Host.WithoutManifest")
	}
}

// parseManifest reads what matters here. It takes no notice of keys that the host would
// refuse: "toolquay plugins check" knows those.
func parseManifest(text string) (*manifest, error) {
	root, err := toml.Parse(text)
	if err != nil {
		return nil, err
	}
	limits, _ := root["limits"].(toml.Table)
	m := &manifest{output: defaultOutput, calls: defaultCalls}
	if n, ok := limits["capability_calls"].(int64); ok && n > 0 {
		m.calls = n
	}
	if size, there := limits["output"]; there {
		if m.output, err = bytesOf(size); err != nil {
			return nil, err
		}
	}
	for _, t := range tables(root["capabilities"]) {
		c := claim{name: text1(t["name"]), texts: texts(t["scope"])}
		for _, pattern := range c.texts {
			p, err := parseScope(pattern)
			if err != nil {
				return nil, err
			}
			c.scope = append(c.scope, p)
		}
		m.claims = append(m.claims, c)
	}
	for _, t := range tables(root["tools"]) {
		m.tools = append(m.tools, contract{
			name: text1(t["name"]), schema: text1(t["input_schema"]), capabilities: texts(t["capabilities"]),
			readOnly: t["read_only"] == true || t["read_only"] == "true", strict: t["strict"] == true,
		})
	}
	for _, t := range tables(root["config"]) {
		m.config = append(m.config, configKey{text1(t["name"]), text1(t["type"]), text1(t["default"]), t["required"] == true})
	}
	return m, nil
}

func text1(v any) string {
	s, _ := v.(string)
	return s
}

// texts are those of an array; of what is none they are nil.
func texts(v any) []string {
	list, ok := v.([]any)
	if !ok {
		return nil
	}
	all := []string{}
	for _, one := range list {
		all = append(all, text1(one))
	}
	return all
}

func tables(v any) (all []toml.Table) {
	list, _ := v.([]any)
	for _, one := range list {
		if t, ok := one.(toml.Table); ok {
			all = append(all, t)
		}
	}
	return all
}

var sizeUnits = []struct {
	suffix string
	bytes  int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}, {"", 1}}

// bytesOf reads a size such as "64KiB", as the host does.
func bytesOf(v any) (int64, error) {
	text := fmt.Sprint(v)
	for _, u := range sizeUnits {
		if digits, ok := strings.CutSuffix(text, u.suffix); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 32)
			if err != nil {
				break
			}
			return n * u.bytes, nil
		}
	}
	return 0, fmt.Errorf("limits.output: %q is not a size; write it as 512KiB, 64MiB or 1GiB", text)
}

func sizeText(n int64) string {
	for _, u := range sizeUnits[:3] {
		if n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.suffix
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

// tool returns the contract of a tool, nil where there is none.
func (m *manifest) tool(name string) *contract {
	i := slices.IndexFunc(m.tools, func(t contract) bool { return t.name == name })
	if i < 0 {
		return nil
	}
	return &m.tools[i]
}

func (t *contract) may(capability string) bool {
	return t.capabilities == nil || slices.Contains(t.capabilities, capability)
}

// declares returns the claim of a capability for a tool, or the host's refusal.
func (m *manifest) declares(t *contract, capability string) (*claim, error) {
	i := slices.IndexFunc(m.claims, func(c claim) bool { return c.name == capability })
	if i < 0 {
		return nil, toolquay.Errorf(toolquay.CodeUndeclared, "%s asked for %s, which its manifest does not declare: add it to [[capabilities]] in %s",
			t.name, capability, manifestFile)
	}
	if t.may(capability) {
		return &m.claims[i], nil
	}
	var others []string
	for n := range m.tools {
		if m.tools[n].may(capability) {
			others = append(others, m.tools[n].name)
		}
	}
	declared := "for none of its tools"
	if len(others) > 0 {
		declared = "for " + strings.Join(others, ", ") + ", not for " + t.name
	}
	return nil, toolquay.Errorf(toolquay.CodeUndeclared, "%s asked for %s, which its manifest declares %s: add it to capabilities of [[tools]] %s in %s",
		t.name, capability, declared, t.name, manifestFile)
}

// settings joins the manifest's defaults and what the test sets.
func (m *manifest) settings(set map[string]wire.Raw) (map[string]wire.Raw, error) {
	all := make(map[string]wire.Raw, len(m.config))
	for _, key := range m.config {
		value, ok := set[key.name]
		switch {
		case ok:
		case key.value == "" && key.required:
			return nil, fmt.Errorf("the configuration value %q is required and not set: set it with Host.Config", key.name)
		case key.value == "":
			continue
		case key.kind == "" || key.kind == "string":
			value, _ = json.Marshal(key.value) // a string never fails
		default:
			value = wire.Raw(strings.TrimSpace(key.value))
		}
		var v any
		if err := decodeExact(value, &v); err != nil || key.kind != "" && !isType(v, key.kind) {
			return nil, fmt.Errorf("the configuration value %q is %s, which is not of type %s", key.name, value, key.kind)
		}
		all[key.name] = value
	}
	for name := range set {
		if !slices.ContainsFunc(m.config, func(k configKey) bool { return k.name == name }) {
			return nil, fmt.Errorf("%s declares no configuration value %q", manifestFile, name)
		}
	}
	return all, nil
}
