package abi

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// Bounds of a manifest. Texts are counted in code points.
const (
	MaxTools        = 128
	MaxSummary      = 256
	MaxDescription  = 16_384
	maxCapabilities = 128
	maxExamples     = 20
	maxLine         = 1024
)

// MaxSafeText is how long a text for models can be, in bytes, so that every program which hands
// it on leaves it whole: some cut descriptions there.
const MaxSafeText = 2048

// MaxIcon bounds the icon of a manifest, in bytes.
const MaxIcon = 8 << 10

// Validate returns everything that is wrong with the manifest, in the order of
// the document: its form, its values, and where they contradict each other.
// Whether capabilities exist and schemas compile is the host's to say.
func (m *Manifest) Validate() []Fault {
	v := &validator{}
	m.validateIdentity(v)
	m.validateModule(v)
	m.validateCapabilities(v)
	m.Limits.validate(v.at("limits"))
	m.validateConfig(v)
	m.validateTools(v)
	return v.faults
}

func (m *Manifest) validateIdentity(v *validator) {
	if m.Manifest != ManifestVersion {
		v.at("manifest").fault("version %d; this host reads version %d, so write manifest = %d", m.Manifest, ManifestVersion, ManifestVersion)
	}
	if len(m.Name) > 64 || !pluginName().MatchString(m.Name) {
		v.at("name").fault("%q is not a plugin name; write lower-case letters, digits and single hyphens, starting with a letter, at most 64", m.Name)
	}
	if len(m.Version) > 128 || !semanticVersion().MatchString(m.Version) {
		v.at("version").fault("%q is not a semantic version; write one such as 1.0.0", m.Version)
	}
	line(v.at("description"), m.Description, maxLine)
	for i, a := range m.Authors {
		line(v.at("authors[%d]", i), a, maxLine)
	}
	line(v.at("license"), m.License, maxLine)
	if m.Homepage != "" {
		v := v.at("homepage")
		line(v, m.Homepage, maxLine)
		if u, err := url.Parse(m.Homepage); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
			v.fault("%q is not a web address; write one such as https://example.org", m.Homepage)
		}
	}
	m.validateIcon(v.at("icon"))
}

// iconTypes are the types of image that an icon may have.
var iconTypes = []string{"image/svg+xml", "image/png", "image/jpeg", "image/webp"}

// IconType returns the media type of the manifest's icon; empty where there is none.
func (m *Manifest) IconType() string {
	mime, _, encoded := strings.Cut(strings.TrimPrefix(m.Icon, "data:"), ";base64,")
	if !encoded {
		return ""
	}
	return mime
}

func (m *Manifest) validateIcon(v *validator) {
	if m.Icon == "" {
		return
	}
	_, content, _ := strings.Cut(m.Icon, ";base64,")
	_, err := base64.StdEncoding.Strict().DecodeString(content)
	switch {
	case len(m.Icon) > MaxIcon:
		v.fault("%d bytes are over the limit of %d", len(m.Icon), MaxIcon)
	case !strings.HasPrefix(m.Icon, "data:"), !slices.Contains(iconTypes, m.IconType()), content == "", err != nil:
		v.fault("it must be a data URI of an image; write data:TYPE;base64,CONTENT, where TYPE is one of %s", strings.Join(iconTypes, ", "))
	}
}

func (m *Manifest) validateModule(v *validator) {
	oneOf(v.at("abi"), m.ABI, ABIDirect, ABIExtism)
	if m.Module != "" && !plainFileName(m.Module) {
		v.at("module").fault("%q is not a plain file name; the module lies beside the manifest", m.Module)
	}
	for i, r := range m.Requires {
		v.at("requires[%d]", i).fault("this host does not know the feature %q, which the plugin cannot do without", r)
	}
	oneOf(v.at("instance"), m.Instance, InstanceFresh, InstanceReset, InstanceKept)
	oneOf(v.at("isolation"), m.Isolation, IsolationSandbox, IsolationProcess)
}

func (m *Manifest) validateCapabilities(v *validator) {
	if len(m.Capabilities) > maxCapabilities {
		v.at("capabilities").fault("%d are over the limit of %d", len(m.Capabilities), maxCapabilities)
		return
	}
	seen := map[string]string{}
	for i, c := range m.Capabilities {
		v := v.at("capabilities[%d]", i)
		capability(v.at("name"), c.Name)
		unique(v.at("name"), seen, c.Name)
		for j, s := range c.Scope {
			v := v.at("scope[%d]", j)
			line(v, s, maxLine)
			if strings.TrimSpace(s) == "" {
				v.fault("an empty pattern; leave it out for whatever the rules allow")
			}
		}
		line(v.at("reason"), c.Reason, maxLine)
	}
}

func (l Limits) validate(v *validator) {
	negative := func(key string, n int64) {
		if n < 0 {
			v.at("%s", key).fault("%d is negative; leave it out for the host's own limit", n)
		}
	}
	negative("memory", int64(l.Memory))
	negative("time", int64(l.Time))
	negative("output", int64(l.Output))
	negative("log_lines", int64(l.LogLines))
	negative("capability_calls", int64(l.CapabilityCalls))
}

func (m *Manifest) validateConfig(v *validator) {
	seen := map[string]string{}
	for i, c := range m.Config {
		v := v.at("config[%d]", i)
		if !configName().MatchString(c.Name) {
			v.at("name").fault("%q is not a name; write a letter, then letters, digits, underscores, dots or hyphens, at most 64 in all", c.Name)
		}
		unique(v.at("name"), seen, c.Name)
		line(v.at("description"), c.Description, maxLine)
		oneOf(v.at("type"), c.Type, ConfigString, ConfigInteger, ConfigNumber, ConfigBoolean)
		if _, err := c.Type.Parse(c.Default); c.Default != "" && err != nil {
			v.at("default").fault("%v", err)
		}
		if c.Required && c.Default != "" {
			v.at("default").fault("a value that is required needs no default; leave out one of the two")
		}
	}
}
