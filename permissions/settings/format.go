package settings

import (
	"errors"
	"fmt"
	"strconv"
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

		OnlyPolicyRules bool     `toml:"only_policy_rules"`
		OnlyPolicyHooks bool     `toml:"only_policy_hooks"`
		ForbidModes     []string `toml:"forbid_modes"`
		RequireLog      bool     `toml:"require_log"`
	} `toml:"permissions"`
	Plugins struct {
		Isolation abi.Isolation `toml:"isolation"`
	} `toml:"plugins"`
	Hooks struct {
		PreToolUse         []hookEntry `toml:"PreToolUse"`
		PostToolUse        []hookEntry `toml:"PostToolUse"`
		PostToolUseFailure []hookEntry `toml:"PostToolUseFailure"`
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
		Directory string `toml:"directory"`
		Required  bool   `toml:"required"`
	} `toml:"log"`
	Approvals struct {
		Timeout      duration `toml:"timeout"`
		AlwaysTo     AlwaysTo `toml:"always_to"`
		DenyEndsTurn bool     `toml:"deny_ends_turn"`
	} `toml:"approvals"`
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
