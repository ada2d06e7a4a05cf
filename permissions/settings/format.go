package settings

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
)

// format is the format of settings.toml.
type format struct {
	Permissions struct {
		Deny        []ruleEntry `toml:"deny"`
		Ask         []ruleEntry `toml:"ask"`
		Allow       []ruleEntry `toml:"allow"`
		Mode        string      `toml:"mode"`
		Directories []string    `toml:"additional_directories"`
		AskToPlan   bool        `toml:"ask_to_plan"`

		OnlyPolicyRules   bool     `toml:"only_policy_rules"`
		OnlyPolicyHooks   bool     `toml:"only_policy_hooks"`
		OnlyPolicyServers bool     `toml:"only_policy_servers"`
		ForbidModes       []string `toml:"forbid_modes"`
		RequireLog        bool     `toml:"require_log"`
	} `toml:"permissions"`
	Plugins map[string]any `toml:"plugins"` // see readPlugins
	Hooks   struct {
		PreToolUse         []hookEntry `toml:"PreToolUse"`
		PostToolUse        []hookEntry `toml:"PostToolUse"`
		PostToolUseFailure []hookEntry `toml:"PostToolUseFailure"`
		TaskCreated        []hookEntry `toml:"TaskCreated"`
		TaskCompleted      []hookEntry `toml:"TaskCompleted"`
		WorktreeCreated    []hookEntry `toml:"WorktreeCreated"`
		WorktreeRemoved    []hookEntry `toml:"WorktreeRemoved"`
	} `toml:"hooks"`
	Judge struct {
		Provider  string   `toml:"provider"`
		BaseURL   string   `toml:"base_url"`
		Model     string   `toml:"model"`
		APIKeyEnv string   `toml:"api_key_env"`
		Timeout   duration `toml:"timeout"`
		MaxTokens int      `toml:"max_tokens"`
	} `toml:"judge"`
	Log struct {
		Directory   string   `toml:"directory"`
		Required    bool     `toml:"required"`
		Inputs      string   `toml:"inputs"`
		RotateAt    abi.Size `toml:"rotate_at"`
		RotateAfter age      `toml:"rotate_after"`
		Keep        age      `toml:"keep"`
		Max         abi.Size `toml:"max"`
	} `toml:"log"`
	Storage struct {
		Keep age      `toml:"keep"`
		Max  abi.Size `toml:"max"`
	} `toml:"storage"`
	Approvals struct {
		Timeout      duration `toml:"timeout"`
		AlwaysTo     AlwaysTo `toml:"always_to"`
		DenyEndsTurn bool     `toml:"deny_ends_turn"`
	} `toml:"approvals"`
	Results struct {
		MaxChars     chars                       `toml:"max_chars"`
		MaxTurnChars chars                       `toml:"max_turn_chars"`
		Strategy     string                      `toml:"strategy"`
		Duplicates   bool                        `toml:"duplicates"`
		Tools        map[string]toolResultsEntry `toml:"tools"`
	} `toml:"results"`
	Scheduler struct {
		Mode          string `toml:"mode"`
		MaxConcurrent int    `toml:"max_concurrent"`
		MaxCalls      int    `toml:"max_calls"`
		MaxPerPlugin  int    `toml:"max_per_plugin"`
		Cascade       string `toml:"cascade"`
	} `toml:"scheduler"`
	Tools struct {
		Preset         string   `toml:"preset"`
		Only           []string `toml:"only"`
		Also           []string `toml:"also"`
		Defer          string   `toml:"defer"`
		DeferOverTools int      `toml:"defer_over_tools"`
		DeferOverChars int      `toml:"defer_over_chars"`
	} `toml:"tools"`
	Tasks struct {
		Kind string `toml:"kind"`
	} `toml:"tasks"`
	Sessions struct {
		Directory     string   `toml:"directory"`
		Keep          age      `toml:"keep"`
		History       bool     `toml:"history"`
		HistoryKeep   age      `toml:"history_keep"`
		HistoryMax    abi.Size `toml:"history_max"`
		HistoryExcept []string `toml:"history_except"`
	} `toml:"sessions"`
	Telemetry struct {
		Endpoint string            `toml:"endpoint"`
		Headers  map[string]string `toml:"headers"`
		Content  bool              `toml:"content"`
	} `toml:"telemetry"`
	Shell struct {
		DefaultTimeout duration `toml:"default_timeout"`
		MaxTimeout     duration `toml:"max_timeout"`
		Budget         duration `toml:"budget"`
		AtLimit        string   `toml:"at_limit"`
		Environment    []string `toml:"environment"`
		MaxBackground  int      `toml:"max_background"`
		MaxOutput      abi.Size `toml:"max_output"`
		Bash           string   `toml:"bash"`
		PowerShell     string   `toml:"powershell"`
	} `toml:"shell"`
	Sandbox struct {
		Mode         string   `toml:"mode"`
		Network      string   `toml:"network"`
		Hosts        []string `toml:"hosts"`
		Writable     []string `toml:"writable"`
		Outside      []string `toml:"outside"`
		Unasked      string   `toml:"unasked"`
		Contained    string   `toml:"contained"`
		MaxProcesses int      `toml:"max_processes"`
		MaxMemory    abi.Size `toml:"max_memory"`
		MaxOpenFiles int      `toml:"max_open_files"`
	} `toml:"sandbox"`
	MCP     map[string]serverEntry `toml:"mcp"`
	Network struct {
		Proxy string `toml:"proxy"`
	} `toml:"network"`
	Credentials struct {
		Store string `toml:"store"`
	} `toml:"credentials"`
}

type serverEntry struct {
	Command programLine       `toml:"command"`
	Args    []string          `toml:"args"`
	Env     map[string]string `toml:"env"`
	Dir     string            `toml:"dir"`
	URL     string            `toml:"url"`
	Headers map[string]string `toml:"headers"`
	Auth    struct {
		ClientID          string   `toml:"client_id"`
		ClientSecretEnv   string   `toml:"client_secret_env"`
		ClientMetadataURL string   `toml:"client_metadata_url"`
		Issuer            string   `toml:"issuer"`
		Scopes            []string `toml:"scopes"`
		Grant             string   `toml:"grant"`
		RedirectPort      int      `toml:"redirect_port"`
	} `toml:"auth"`
	Network          []string `toml:"network"`
	Read             []string `toml:"read"`
	Write            []string `toml:"write"`
	TrustAnnotations bool     `toml:"trust_annotations"`
	AlwaysLoad       bool     `toml:"always_load"`
	Enabled          bool     `toml:"enabled"`
	StartTimeout     duration `toml:"start_timeout"`
	CallTimeout      duration `toml:"call_timeout"`
	IdleTimeout      duration `toml:"idle_timeout"`
}

// programLine is a program, or a list of a program and its arguments.
type programLine []string

// UnmarshalString takes a program alone.
func (c *programLine) UnmarshalString(program string) error {
	*c = []string{program}
	return nil
}

type toolResultsEntry struct {
	MaxChars chars  `toml:"max_chars"`
	Strategy string `toml:"strategy"`
}

// chars is a number of code points, or the word unlimited.
type chars int

// UnmarshalText reads either way of writing.
func (c *chars) UnmarshalText(text []byte) error {
	if string(text) == unlimited {
		*c = Unlimited
		return nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1 {
		return fmt.Errorf("%.40q is no number of characters; write one over 0, or \"unlimited\"", text)
	}
	*c = chars(n)
	return nil
}

// age is a duration, or a number of days or weeks written as 30d or 4w.
type age duration

// UnmarshalText reads any way of writing.
func (a *age) UnmarshalText(text []byte) (err error) {
	*(*time.Duration)(a), err = ParseAge(string(text))
	return err
}

// ParseAge reads how long something is kept, as settings have it: 30d, 4w, 12h, or a number of
// seconds.
func ParseAge(text string) (time.Duration, error) {
	const day = 24 * time.Hour
	for unit, length := range map[string]time.Duration{"d": day, "w": 7 * day} {
		number, ok := strings.CutSuffix(text, unit)
		if n, err := strconv.ParseInt(number, 10, 16); ok && err == nil {
			return time.Duration(n) * length, nil
		}
	}
	var d duration
	if d.UnmarshalText([]byte(text)) != nil {
		return 0, fmt.Errorf("%.40q is no span of time; write it as 30d, 4w or 12h", text)
	}
	return time.Duration(d), nil
}

// ruleEntry is a rule as a string, or as a table.
type ruleEntry struct {
	Rule     string    `toml:"rule"`
	Match    []string  `toml:"match"`
	NotMatch []string  `toml:"not_match"`
	Expires  time.Time `toml:"expires"`
	// plain says that it was written as a string.
	plain bool
}

// UnmarshalString takes the rule alone.
func (e *ruleEntry) UnmarshalString(text string) error {
	e.Rule, e.plain = text, true
	return nil
}

type hookEntry struct {
	Matcher string      `toml:"matcher"`
	Command commandLine `toml:"command"`
	Timeout duration    `toml:"timeout"`
	Env     []string    `toml:"env"`
}

// commandLine is a program with its arguments, or a line for the shell.
type commandLine []string

// UnmarshalString takes a line for the shell.
func (c *commandLine) UnmarshalString(line string) error {
	if line == "" {
		return errors.New("the command is empty")
	}
	*c = []string{"sh", "-c", line}
	return nil
}

// duration is a span of time as Go writes it, such as 90s or 2m, or a whole
// number of seconds.
type duration time.Duration

// UnmarshalText reads either way of writing.
func (d *duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if seconds, notNumber := strconv.ParseInt(string(text), 10, 32); notNumber == nil {
		v, err = time.Duration(seconds)*time.Second, nil
	}
	if err != nil {
		return fmt.Errorf("%.40q is no span of time; write it as 500ms, 30s or 2m, or as a number of seconds", text)
	}
	*d = duration(v)
	return nil
}
