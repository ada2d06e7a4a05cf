package permissions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/stricttoml"
)

// Settings is what one settings file says.
type Settings struct {
	// File is the path it was read from.
	File             string
	Deny, Ask, Allow []RuleText
	// Mode is empty where the file names none.
	Mode        Mode
	Directories []string
	// Isolation is what walls plugins that are not built in run behind, whatever
	// they ask for: [abi.IsolationProcess] demands a process of its own for each.
	// It is empty where the file does not say.
	Isolation abi.Isolation
}

// settingsFile is the format of settings.toml.
type settingsFile struct {
	Permissions struct {
		Deny        []string `toml:"deny"`
		Ask         []string `toml:"ask"`
		Allow       []string `toml:"allow"`
		Mode        string   `toml:"mode"`
		Directories []string `toml:"additional_directories"`
	} `toml:"permissions"`
	Plugins struct {
		Isolation abi.Isolation `toml:"isolation"`
	} `toml:"plugins"`
}

// LoadSettings reads a settings file. A file that does not exist is no error
// and no settings. Anything but a regular file, and one over 1 MiB, is refused
// without waiting on it; a symbolic link is followed. All faults are reported
// at once, each as "file: line 3: ...".
//
// What the rules say is judged by [Compile].
func LoadSettings(path string) (*Settings, error) {
	src, err := readRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	return ParseSettings(path, src)
}

// ParseSettings reads the text of a settings file; path is for messages.
func ParseSettings(path string, src []byte) (*Settings, error) {
	var file settingsFile
	doc, faults := stricttoml.Decode(src, &file)
	in := &file.Permissions
	s := &Settings{File: path, Directories: in.Directories, Isolation: file.Plugins.Isolation}
	if in.Mode != "" || doc.Has("permissions.mode") {
		mode, err := ParseMode(in.Mode)
		if err != nil && len(faults) == 0 {
			faults = append(faults, doc.Fault("permissions.mode", "%v", err))
		}
		s.Mode = mode
	}
	switch s.Isolation {
	case abi.IsolationSandbox, abi.IsolationProcess:
	default:
		if doc.Has("plugins.isolation") && len(faults) == 0 {
			faults = append(faults, doc.Fault("plugins.isolation", "%q is no isolation; write %q or %q", s.Isolation, abi.IsolationSandbox, abi.IsolationProcess))
		}
	}
	if len(faults) > 0 {
		errs := make([]error, len(faults))
		for i, f := range faults {
			errs[i] = fmt.Errorf("%s: %s", path, f)
		}
		return nil, errors.Join(errs...)
	}
	s.Deny = ruleTexts(doc, "permissions.deny", in.Deny)
	s.Ask = ruleTexts(doc, "permissions.ask", in.Ask)
	s.Allow = ruleTexts(doc, "permissions.allow", in.Allow)
	return s, nil
}

func ruleTexts(doc *stricttoml.Document, list string, rules []string) []RuleText {
	out := make([]RuleText, len(rules))
	for i, text := range rules {
		out[i] = RuleText{Text: text, Line: doc.Line(fmt.Sprintf("%s[%d]", list, i))}
	}
	return out
}

// readRegular reads a regular file of at most stricttoml.MaxSize bytes.
func readRegular(path string) ([]byte, error) {
	// Looking first spares devices the effects that opening them may have; the
	// flag keeps a FIFO put there meanwhile from blocking the open.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	src, err := io.ReadAll(io.LimitReader(f, stricttoml.MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(src) > stricttoml.MaxSize {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, stricttoml.MaxSize)
	}
	return src, nil
}

// RuleSet returns the settings as rules of a source. Of a project that is not
// trusted only deny and ask rules count: what a repository brings may tighten,
// never loosen. A warning says what was left out. Nil settings are no rules.
func (s *Settings) RuleSet(kind SourceKind, trusted bool) (RuleSet, []Warning) {
	if s == nil {
		return RuleSet{Source: kind}, nil
	}
	set := RuleSet{
		Source: kind, File: s.File, Deny: s.Deny, Ask: s.Ask, Allow: s.Allow,
		Mode: s.Mode, Directories: s.Directories,
	}
	if trusted || kind != SourceProject && kind != SourceProjectLocal {
		return set, nil
	}
	var warnings []Warning
	leave := func(there bool, what string) {
		if there {
			warnings = append(warnings, Warning{
				Source:  Source{Kind: kind, File: s.File},
				Message: what + " left out: the project is not trusted",
			})
		}
	}
	leave(len(s.Allow) > 0, fmt.Sprintf("%d allow rules", len(s.Allow)))
	leave(s.Mode != "", fmt.Sprintf("the mode %s", s.Mode))
	leave(len(s.Directories) > 0, fmt.Sprintf("%d additional directories", len(s.Directories)))
	set.Allow, set.Mode, set.Directories = nil, "", nil
	return set, warnings
}
