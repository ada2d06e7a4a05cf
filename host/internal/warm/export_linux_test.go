package warm

import "context"

// RunUnfit runs what [Fit] refuses: commands that show the shell's state, or mean it
// ill.
func (p *Pool) RunUnfit(ctx context.Context, r *Request) (Result, error) { return p.run(ctx, r) }

// Shells returns how many shells there are.
func (p *Pool) Shells() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}
