package prepass

// Rewrite rewrites a module. Errors are of type [*Error]. The same module and
// options give the same bytes, and what comes out can be rewritten again.
//
// It takes time and memory proportional to the size of the module.
func Rewrite(wasm []byte, o Options) (*Module, error) {
	m, err := decode(wasm, o)
	if err != nil {
		return nil, err
	}
	return m.encode(m.newPlan()), nil
}
