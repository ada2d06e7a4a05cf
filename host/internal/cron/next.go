package cron

import "time"

// Next is the first instant after another at which a schedule comes due in a zone; false where
// there is none within some years.
//
// The schedule is of the wall clock. A time of it that a change of the clock leaves out comes due
// at the change, and several of those once. A time that comes twice comes due when it first does.
func (s *Schedule) Next(after time.Time, zone *time.Location) (time.Time, bool) {
	after = after.In(zone)
	due, found := s.wall(shown(after))
	if !found {
		return time.Time{}, false
	}
	// The clock shows due, or leaves it out, in the first period that ends with it behind.
	from, to := after.ZoneBounds()
	for {
		_, offset := from.Zone()
		if from.IsZero() {
			_, offset = after.Zone()
		}
		at := due.Add(-time.Duration(offset) * time.Second)
		if to.IsZero() || at.Before(to) {
			if at.Before(from) {
				at = from // it is left out
			}
			return at.In(zone), true
		}
		from, to = to.ZoneBounds()
	}
}

// longestBack is more than any clock was ever set back by a change of its zone.
const longestBack = 25 * time.Hour

// shown is the latest time that the wall clock has shown up to an instant, written in UTC. While
// it repeats an hour that is the end of that hour's first run.
func shown(at time.Time) time.Time {
	latest := wallOf(at)
	for from, _ := at.ZoneBounds(); !from.IsZero() && at.Sub(from) < longestBack; from, _ = from.Add(-1).ZoneBounds() {
		if end := wallOf(from.Add(-1)); end.After(latest) {
			latest = end
		}
	}
	return latest
}

// wallOf is what the wall clock shows at an instant, written in UTC.
func wallOf(at time.Time) time.Time {
	_, offset := at.Zone()
	return at.Add(time.Duration(offset) * time.Second).UTC()
}
