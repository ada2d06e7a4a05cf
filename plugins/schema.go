package plugins

import "github.com/toolquay/toolquay/plugins/internal/schemas"

// Schema is a compiled JSON Schema of one tool. It is safe for concurrent use.
type Schema = schemas.Schema

// MaxSchema is the largest JSON Schema in bytes.
const MaxSchema = schemas.MaxSchema

// CompileSchema compiles the schema of a tool's input, which must be a JSON object.
// References may only point into the schema itself: nothing is ever loaded. Compiling and
// every validation are bounded in the work they may take.
func CompileSchema(tool, text string) (*Schema, error) { return schemas.Compile(tool, text) }

// CompileOutputSchema compiles the schema of a tool's structured content as [CompileSchema]
// does.
func CompileOutputSchema(tool, text string) (*Schema, error) {
	return schemas.CompileOutput(tool, text)
}

// CompileForm compiles the schema of what a caller wants a tool to be called with, as
// [CompileSchema] does. Its root must have the type object. Of an input that does not fit, up
// to 100 faults are told.
func CompileForm(tool, text string) (*Schema, error) { return schemas.CompileForm(tool, text) }
