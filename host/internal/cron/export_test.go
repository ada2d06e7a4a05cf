package cron

import (
	"context"

	"github.com/toolquay/toolquay/host/capability"
)

// AtStep has a store tell of each step of what it does.
func AtStep(s *Store, do func(step string)) { s.step = do }

// TakeDue takes what is due now, and does not wait for more.
func TakeDue(j *Jobs, take func(capability.DuePrompt) bool) {
	t := Taker{Take: take, Idle: func(context.Context) bool { return true }}
	for told := true; told; {
		due, _ := j.look()
		told, _ = j.tellAll(context.Background(), due, &t)
	}
}
