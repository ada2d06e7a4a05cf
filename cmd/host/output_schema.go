package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/host"
)

// outputSchema is the flag --output-schema: the file of a JSON Schema.
type outputSchema struct{ file string }

func (f *outputSchema) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "output-schema", "", "offer StructuredOutput, whose input must fit the JSON Schema in this file")
}

// read reads the schema and checks it; nil is none.
func (f *outputSchema) read(ctx context.Context, a *app) (json.RawMessage, error) {
	switch f.file {
	case "":
		return nil, nil
	case "-":
		return nil, usageError("--output-schema: standard input is for the calls; name a file")
	}
	schema, err := a.read(ctx, f.file, host.MaxOutputSchema)
	if err != nil {
		return nil, err
	}
	if err := host.CheckOutputSchema(schema); err != nil {
		return nil, usageError("--output-schema %s: %w", f.file, err)
	}
	return schema, nil
}

// missing is the error of a run that ends without the output that was asked for.
func (f *outputSchema) missing(s *host.Session) error {
	if f.file == "" || s.Output() != nil {
		return nil
	}
	return &exitError{exitNoOutput, fmt.Errorf("no call of StructuredOutput had an input that fits %s", f.file)}
}
