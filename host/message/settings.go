package message

import (
	"maps"
	"slices"
)

// parseSettings reads what a message asks to tighten, and refuses the rest.
func parseSettings(message object) (Settings, error) {
	if !message.has("settings") {
		return Settings{}, nil
	}
	top, err := asObject("settings", message.keys["settings"])
	if err != nil {
		return Settings{}, err
	}
	for _, key := range slices.Sorted(maps.Keys(top.keys)) {
		if key != "permissions" {
			return Settings{}, tightens(top.at(key))
		}
	}
	rules, err := asObject("settings.permissions", top.keys["permissions"])
	if err != nil {
		return Settings{}, err
	}
	for _, key := range slices.Sorted(maps.Keys(rules.keys)) {
		if key != "deny" && key != "ask" {
			return Settings{}, tightens(rules.at(key))
		}
	}
	var s Settings
	if s.Deny, err = rules.texts("deny"); err != nil {
		return Settings{}, err
	}
	s.Ask, err = rules.texts("ask")
	return s, err
}

func tightens(place string) error {
	return invalid("%s: what comes with a message can only tighten; it may bring settings.permissions.deny and .ask, nothing else", place)
}
