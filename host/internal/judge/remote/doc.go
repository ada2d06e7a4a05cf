// Package remote reaches models over HTTP: by the Anthropic Messages API, by the
// OpenAI Chat Completions API, and by what speaks either protocol.
//
//	model, err := remote.Anthropic(remote.Config{
//		BaseURL: "https://api.anthropic.com",
//		Model:   name,
//		Key:     func(context.Context) (string, error) { return os.Getenv("ANTHROPIC_API_KEY"), nil },
//	})
//
// A client makes one kind of request, and keeps to it: it follows no redirect,
// reads at most 1 MiB, takes nothing from the environment, is connected by package
// egress, and sends a key over plain HTTP to this machine
// only. The key is in no error and no log.
//
// What failed in passing (429, 5xx, a connection that broke) is tried twice more,
// after the time the server asks for, or half a second doubling, unless the
// context's deadline comes first. Errors are of the type [*Error].
package remote
