package fs

import "context"

// replacement is a replacement in a file that was looked at: it knows how often the
// text is there and where.
type replacement struct {
	*original
	plan  *replacePlan
	enc   encoding
	view  view
	old   []byte // the pattern, as it looks in the view
	lines tally  // of the whole file

	count, unseen int
	first         [maxPlaces]int64 // lines of the first occurrences
	firstUnseen   int64            // the line of the first that was not seen
}

// maxPlaces is how many places a message names.
const maxPlaces = 10

// find looks for the exact text, and where there is none for one with other quotes.
func (r *replacement) find(ctx context.Context) error {
	if err := r.look(ctx); err != nil || r.count > 0 || !hasQuotes(r.plan.old) {
		return err
	}
	r.view, r.old = view{quotes: true}, straight(r.plan.old)
	return r.look(ctx)
}

func (r *replacement) look(ctx context.Context) error {
	r.lines = tally{enc: r.enc}
	return r.scan(ctx, func(p piece) error {
		r.lines.add(p.raw)
		return nil
	}, func(p piece) error {
		r.note(p)
		r.lines.add(p.raw)
		return nil
	})
}

func (r *replacement) note(p piece) {
	line := r.lines.lines() + 1
	if r.count < maxPlaces {
		r.first[r.count] = line
	}
	r.count++
	if !r.saw(p.at, p.at+int64(len(p.raw))) {
		if r.unseen == 0 {
			r.firstUnseen = line
		}
		r.unseen++
	}
}

func (r *replacement) scan(ctx context.Context, between, found func(piece) error) error {
	s := scanner{content: &r.content, enc: r.enc, view: r.view, pattern: r.old, between: between, found: found}
	if err := s.run(ctx, r.plan.given); err != nil {
		return r.plan.failed(err)
	}
	return nil
}
