package config

import (
	"context"
	"fmt"
	"os"

	"github.com/toolquay/toolquay/host/internal/egress"
	"github.com/toolquay/toolquay/host/internal/judge"
	"github.com/toolquay/toolquay/host/internal/judge/remote"
	"github.com/toolquay/toolquay/permissions/settings"
)

// judgeOf is the model that settings name as the judge, or none. Its key is read from the
// environment each time it is needed.
func judgeOf(loaded *settings.Loaded) (judge.Options, error) {
	j := loaded.Judge
	if j == nil {
		return judge.Options{}, nil
	}
	config := remote.Config{
		Model: j.Model, Timeout: j.Timeout,
		Network: egress.Options{Proxy: ProxyOf(loaded), Named: NamedHosts(loaded)},
	}
	if j.APIKeyEnv != "" {
		config.Key = func(context.Context) (string, error) {
			key := os.Getenv(j.APIKeyEnv)
			if key == "" {
				return "", fmt.Errorf("the variable %s is empty (%s)", j.APIKeyEnv, j.Source)
			}
			return key, nil
		}
	}
	connect, usual := remote.Anthropic, "https://api.anthropic.com"
	if j.Provider == settings.ProviderOpenAI {
		connect, usual = remote.OpenAI, "https://api.openai.com/v1"
	}
	config.BaseURL = usual
	if j.BaseURL != nil {
		config.BaseURL = j.BaseURL.String()
	}
	model, err := connect(config)
	if err != nil {
		return judge.Options{}, fmt.Errorf("the judge (%s): %w", j.Source, err)
	}
	return judge.Options{Model: model, Timeout: j.Timeout, MaxTokens: j.MaxTokens}, nil
}
