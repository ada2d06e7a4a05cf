// Package toolquay is what a plugin written in Go imports: it turns functions
// into tools that a Toolquay host runs as WebAssembly.
//
// A plugin registers its tools while it starts, and leaves main empty:
//
//	func init() { toolquay.Handle("Shout", shout) }
//
//	func main() {}
//
//	func shout(c *toolquay.Call, in struct{ Text string }) (toolquay.Output, error) {
//		return toolquay.Text(strings.ToUpper(in.Text)), nil
//	}
//
// Go 1.24 or later builds it to a module for the host:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o shout.wasm
//
// and so does TinyGo, to a smaller one:
//
//	tinygo build -target=wasip1 -buildmode=c-shared -o shout.wasm
//
// What the tools are called, what input they take and which capabilities they
// need is written in the plugin.toml beside the module.
//
// # Reaching the world
//
// A guest can do nothing to the world by itself. It asks the host, through
// [Call.FS], [Call.Search] or [Call.Submit] for what this package has no
// methods for. Each blocking method has a form that starts the work and returns
// a [Pending], so that several can be under way at once. Answers are streams
// ([Answer], an io.Reader): a file larger than the guest's memory can be read
// piece by piece, or passed into the result with [Output.TextFrom] without
// being read at all.
//
// Failures carry a [Code], so that a tool can tell a missing file from a denied
// one without reading messages: errors.Is(err, &Error{Code: CodeNotFound}).
//
// # Testing
//
// Built for any other platform the same code runs natively. Package
// toolquaytest has a host for "go test".
package toolquay
