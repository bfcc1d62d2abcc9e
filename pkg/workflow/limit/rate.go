package limit

import (
	"fmt"
	"slices"
	"sort"
	"time"
)

// Bounds of limits per time.
const (
	MaxUnits = 1_000_000_000_000 // units of one key
	MinPer   = time.Second
	MaxPer   = 366 * 24 * time.Hour
)

// Rate is how many units of each key may be taken in any time of a length.
type Rate struct {
	Units int64         `json:"units"`         // 0: none may be taken
	Per   time.Duration `json:"per,omitempty"` // a unit that was taken comes back after it; 0: never, so that there are so many in all
}

// Check refuses a rate that no limit has.
func (r Rate) Check() error {
	switch {
	case r.Units < 0 || r.Units > MaxUnits:
		return fmt.Errorf("there are %d units; from 0, of which nobody is given one, to %d are possible, and whole ones: count in a smaller unit", r.Units, int64(MaxUnits))
	case r.Per != 0 && (r.Per < MinPer || r.Per > MaxPer):
		return fmt.Errorf("a unit comes back after %s; from %s to %s are possible", r.Per, PerText(MinPer), PerText(MaxPer))
	}
	return nil
}

// String says it for people.
func (r Rate) String() string {
	if r.Per == 0 {
		return fmt.Sprintf("%d in all", r.Units)
	}
	return fmt.Sprintf("%d per %s", r.Units, PerText(r.Per))
}

// PerText says a time as people give it: 1m, and not 1m0s.
func PerText(d time.Duration) string {
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if d >= u.of && d%u.of == 0 {
			return fmt.Sprintf("%d%s", d/u.of, u.name)
		}
	}
	return d.String()
}

// Bucket is what was taken of the units of one line, and is not back yet. Its time never goes back: what is taken later
// is never back earlier, also where a clock says that it is earlier. So a clock that steps back takes nothing early, and of nodes whose clocks
// differ a unit is early by as much as those are apart.
type Bucket struct {
	Taken []Taken   `json:"taken,omitempty"` // oldest first
	Hold  time.Time `json:"hold,omitzero"`   // nobody is given a place before it, as a service asked for it
}

// Taken is what was taken at about one time. Of more than the rate has, which is a debt, as much as the rate comes
// back each time.
type Taken struct {
	At    int64 `json:"at"` // milliseconds since 1970
	Units int64 `json:"units"`
}

const (
	// slots are how many different times what was taken in the time of a rate has, if there are many units: each is
	// rounded up, so that units come back a slot late, and never early.
	slots = 32
	// mostTaken is how many a bucket has: settlements take beside grants.
	mostTaken = 64
)

// left is what of t is not back at a time.
func (r Rate) left(t Taken, now int64) int64 {
	if r.Per <= 0 || now < t.At {
		return t.Units
	}
	times := (now - t.At) / r.Per.Milliseconds()
	switch {
	case times == 0:
		return t.Units
	case r.Units <= 0 || times >= (t.Units+r.Units-1)/r.Units:
		return 0
	}
	return t.Units - times*r.Units
}

// Free is how many units may be taken at a time; less than 0 is a debt. That a service asked to wait is not part of it.
func (b *Bucket) Free(r Rate, now time.Time) int64 {
	free := r.Units
	for _, t := range b.Taken {
		free -= r.left(t, now.UnixMilli())
	}
	return free
}

// May tells whether so many units may be taken at a time.
func (b *Bucket) May(r *Rate, now time.Time, units int64) bool {
	return !now.Before(b.Hold) && (r == nil || b.Free(*r, now) >= units)
}

// Next is when so many units may be taken, if nobody else takes some; zero: never by itself.
func (b *Bucket) Next(r *Rate, now time.Time, units int64) time.Time {
	next := now
	if b.Hold.After(now) {
		next = b.Hold
	}
	if r == nil || b.Free(*r, next) >= units {
		return next
	}
	if units > r.Units || r.Per <= 0 {
		return time.Time{}
	}
	const far = 100 * 366 * 24 * 3600 * 1000
	// What is free only grows with time.
	from := next.UnixMilli()
	ms := sort.Search(far, func(i int) bool { return b.Free(*r, time.UnixMilli(from+int64(i))) >= units })
	if ms == far {
		return time.Time{}
	}
	return time.UnixMilli(from + int64(ms)).UTC()
}

// Take is the bucket after so many units were taken at a time, and under which time they stand in it: see [Bucket.Settle].
func (b *Bucket) Take(r *Rate, now time.Time, units int64) (after Bucket, at int64) {
	if r == nil || units == 0 {
		return *b, 0
	}
	after = Bucket{Hold: b.Hold, Taken: b.present(*r, now)}
	n := len(after.Taken)
	if r.Per > 0 {
		if at = now.UnixMilli(); r.Units > slots {
			slot := max(1, r.Per.Milliseconds()/slots)
			at = (at + slot - 1) / slot * slot
		}
		if n > 0 {
			at = max(at, after.Taken[n-1].At)
		}
	}
	switch {
	case n > 0 && after.Taken[n-1].At == at:
		after.Taken[n-1].Units += units
	case n >= mostTaken:
		after.Taken[n-1] = Taken{at, after.Taken[n-1].Units + units} // what was taken before is back later than it could be
	default:
		after.Taken = append(after.Taken, Taken{at, units})
	}
	return after, at
}

// present are those of which something is not back yet.
func (b *Bucket) present(r Rate, now time.Time) []Taken {
	return slices.DeleteFunc(slices.Clone(b.Taken), func(t Taken) bool { return r.left(t, now.UnixMilli()) == 0 })
}

// Settle is the bucket after it is known what was used. What was not used is back, if the time under which it was taken is in the bucket
// yet; what was used beyond is taken now, and may be a debt. Of two services that ask to wait the one counts that asks for longer.
func (b *Bucket) Settle(r *Rate, now time.Time, s Settlement) Bucket {
	after := Bucket{Hold: b.Hold, Taken: b.Taken}
	if s.Hold.After(b.Hold) {
		after.Hold = s.Hold
	}
	if r == nil || s.Used == s.Units {
		return after
	}
	if s.Used > s.Units {
		after, _ = after.Take(r, now, s.Used-s.Units)
		return after
	}
	after.Taken = b.present(*r, now)
	for i := range after.Taken {
		if t := &after.Taken[i]; t.At == s.At {
			t.Units -= min(t.Units, s.Units-s.Used)
		}
	}
	after.Taken = slices.DeleteFunc(after.Taken, func(t Taken) bool { return t.Units == 0 })
	return after
}

// Empty tells whether a bucket says nothing any more: all was back a while ago, and nobody asks to wait.
func (b *Bucket) Empty(r *Rate, now time.Time) bool {
	const while = time.Minute // clocks are not further apart
	now = now.Add(-while)
	return now.After(b.Hold) && (r == nil && len(b.Taken) == 0 || r != nil && len(b.present(*r, now)) == 0)
}
