package worker

// Compiling is how many children compile.
func (c *Compiler) Compiling() int { return len(c.slots) }
