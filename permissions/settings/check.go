package settings

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
	"unicode"
)

func readHooks(p *parser, event Event, entries []hookEntry) {
	for i := range entries {
		e, key := &entries[i], fmt.Sprintf("hooks.%s[%d]", event, i)
		h := Hook{
			Event: event, Matcher: e.Matcher, Command: e.Command, Env: e.Env,
			Timeout: p.span(key+".timeout", e.Timeout, DefaultHookTimeout, MaxHookTimeout),
			Source:  p.faults.file.source(p.doc.Line(key)),
		}
		if strings.ContainsFunc(h.Matcher, unicode.IsControl) {
			p.fault(key+".matcher", "it holds a control character")
		}
		checkCommand(p, key, h.Command)
		for j, name := range h.Env {
			if !variable(name) {
				p.fault(fmt.Sprintf("%s.env[%d]", key, j), "%.40q is no name of an environment variable", name)
			}
		}
		p.faults.file.Hooks = append(p.faults.file.Hooks, h)
	}
}

func checkCommand(p *parser, hook string, argv []string) {
	switch key := hook + ".command"; {
	case !p.doc.Has(key):
		p.fault(key, "the hook has no command; write a line for the shell, or an array of program and arguments")
	case len(argv) == 0 || argv[0] == "":
		p.fault(key, "the command names no program")
	case strings.Contains(strings.Join(argv, ""), "\x00"):
		p.fault(key, "it holds a NUL, which no program can be given")
	}
}

func judgeOf(p *parser) *Judge {
	in := &p.in.Judge
	if !p.doc.Has("judge") {
		return nil
	}
	j := &Judge{
		Provider: in.Provider, Model: in.Model, APIKeyEnv: in.APIKeyEnv, MaxTokens: DefaultJudgeMaxTokens,
		BaseURL: baseURLOf(p, in.BaseURL),
		Timeout: p.span("judge.timeout", in.Timeout, DefaultJudgeTimeout, MaxJudgeTimeout),
		Source:  p.faults.file.source(p.doc.Line("judge")),
	}
	for _, key := range []string{"judge.provider", "judge.model"} {
		if !p.doc.Has(key) {
			p.fault(key, "a judge needs this")
		}
	}
	p.oneOf("judge.provider", in.Provider, ProviderAnthropic, ProviderOpenAI)
	if p.doc.Has("judge.model") && in.Model == "" {
		p.fault("judge.model", "it is empty")
	}
	if p.doc.Has("judge.api_key_env") {
		p.secret("judge.api_key_env", in.APIKeyEnv, "the key")
	}
	if p.doc.Has("judge.max_tokens") {
		if j.MaxTokens = in.MaxTokens; in.MaxTokens < 1 || in.MaxTokens > MaxJudgeMaxTokens {
			p.fault("judge.max_tokens", "%d is not from 1 to %d", in.MaxTokens, MaxJudgeMaxTokens)
		}
	}
	return j
}

// baseURLOf reads where a judge is. What it is sent, the key included, must not go
// through a network in the clear. The URL is not repeated in faults, as it may
// hold a password.
func baseURLOf(p *parser, text string) *url.URL {
	const key = "judge.base_url"
	if !p.doc.Has(key) {
		return nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		p.fault(key, "it is no URL such as https://api.example.com")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		p.fault(key, "it has a user, a query or a fragment; write scheme, host and path only")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		p.fault(key, "it sends the key in the clear; only this machine itself is spoken to without https")
	}
	return u
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func logOf(p *parser) Log {
	in := &p.in.Log
	p.directory("log.directory", in.Directory)
	p.oneOf("log.inputs", in.Inputs, LogHash, LogRedacted, LogFull)
	after := p.span("log.rotate_after", duration(in.RotateAfter), 0, maxKeep)
	keep := p.span("log.keep", duration(in.Keep), 0, maxKeep)
	return Log{
		Directory:   keyOf(p, "log.directory", in.Directory),
		Required:    keyOf(p, "log.required", in.Required),
		Inputs:      keyOf(p, "log.inputs", in.Inputs),
		RotateAt:    p.size("log.rotate_at", in.RotateAt, minRotate, maxRotate),
		RotateAfter: keyOf(p, "log.rotate_after", after),
		Keep:        keyOf(p, "log.keep", keep),
		Max:         p.size("log.max", in.Max, minRotate, maxHistory),
	}
}

func approvalsOf(p *parser) Approvals {
	in := &p.in.Approvals
	if in.Timeout < 0 {
		p.fault("approvals.timeout", "%v is less than no time", time.Duration(in.Timeout))
	}
	p.oneOf("approvals.always_to", string(in.AlwaysTo), string(AlwaysToSession), string(AlwaysToProjectLocal),
		string(AlwaysToProject), string(AlwaysToUser), string(AlwaysToNone))
	return Approvals{
		Timeout:      keyOf(p, "approvals.timeout", time.Duration(in.Timeout)),
		AlwaysTo:     keyOf(p, "approvals.always_to", in.AlwaysTo),
		DenyEndsTurn: keyOf(p, "approvals.deny_ends_turn", in.DenyEndsTurn),
	}
}
