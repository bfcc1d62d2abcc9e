package cron

import "time"

// period is a time in which the clocks of a zone do not jump.
type period struct {
	start, end         time.Time // zero: for ever
	before, off, after time.Duration
}

func periodAt(t time.Time, zone *time.Location) period {
	t = t.In(zone)
	var p period
	p.start, p.end = t.ZoneBounds()
	p.off = offset(t)
	p.before, p.after = p.off, p.off
	if !p.start.IsZero() {
		p.before = offset(p.start.Add(-1))
	}
	if !p.end.IsZero() {
		p.after = offset(p.end)
	}
	return p
}

func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// farthest is more than any clock is from UTC, and than any day is long.
const farthest = 26 * time.Hour

// nextInZone asks for a time on the zone's clock, which is written as if it were UTC, and finds when that is.
func (s Schedule) nextInZone(after time.Time) (time.Time, bool) {
	after = after.UTC().Truncate(time.Second)
	p := periodAt(after, s.zone)
	from := after.Add(p.off)
	if twice := p.start.UTC().Add(p.before - time.Second); !s.often && p.before > p.off && from.Before(twice) {
		from = twice // the hour that is there a second time
	}
	clock, ok := s.nextOnClock(from)
	for first := true; ok; first = false {
		at := clock.Add(-p.off)
		if p.end.IsZero() || at.Before(p.end) {
			return at, true
		}
		if again := p.end.UTC().Add(p.after); clock.Before(again) { // the clock jumps over it
			return p.end.UTC(), true
		} else if first && s.often && p.after < p.off {
			if clock, ok = s.nextOnClock(again.Add(-time.Second)); !ok {
				break
			}
		}
		to := p.end
		if far := clock.Add(-farthest); far.After(to) {
			to = far
		}
		p = periodAt(to, s.zone)
	}
	return time.Time{}, false
}

// At is the moment at which the clock of a zone shows a time, which is written as if it were UTC. One that the clock jumps over is
// at the jump; one that it shows twice is the first time.
func At(clock time.Time, zone *time.Location) time.Time {
	clock = clock.UTC()
	for p := periodAt(clock.Add(-farthest), zone); ; p = periodAt(p.end, zone) {
		at := clock.Add(-p.off)
		if p.end.IsZero() || at.Before(p.end) {
			return at
		}
		if clock.Before(p.end.UTC().Add(p.after)) {
			return p.end.UTC()
		}
	}
}
