package record

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// A time in a key is the milliseconds since 1970, in 13 digits. Later ones have 13 nines and 15 digits
// behind them, so that the keys have the order of their times up to the year 9999: what ends sooner than
// another of the same digits comes first, as / comes before 0. What is before 1970 counts as 1970, and keeps
// its own time in its value.
//
// A program of before wrote those later ones with 14 or 15 digits, which come between the others. Such a key is
// misplaced: it says the right time, and lies where others look for sooner ones.

// LastShort is the latest time in 13 digits: in November of 2286.
const LastShort = store.LastListedMilli

// BehindShort is what a later time begins with.
const BehindShort = "9999999999999"

// Millis is a time as part of a key whose range begins with the soonest one.
func Millis(t time.Time) string {
	ms := min(max(0, t.UnixMilli()), store.LastMilli)
	if ms <= LastShort {
		return fmt.Sprintf("%013d", ms)
	}
	return fmt.Sprintf("%s%015d", BehindShort, ms)
}

// FromMillis is the time of such a part, also of a misplaced key; the beginning of time if it is none.
func FromMillis(part string) time.Time {
	if late, ok := strings.CutPrefix(part, BehindShort); ok && len(late) == 15 {
		part = late
	}
	ms, err := strconv.ParseInt(part, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Misplaced tells whether a time in a key is one as a program of before wrote it, which is not in the order of the others.
func Misplaced(part string) bool {
	return (len(part) == 14 || len(part) == 15) && strings.Trim(part, "0123456789") == ""
}

// MisplacedMillis is where a program of before put a time; "" if it is where it is now.
func MisplacedMillis(t time.Time) string {
	if ms := t.UnixMilli(); ms > LastShort {
		return strconv.FormatInt(ms, 10)
	}
	return ""
}

// timerKeys are the keys of timers.
type timerKeys struct{ root string }

// Timers is what the timers of a shard begin with.
func (k timerKeys) Timers(shard int) string { return fmt.Sprintf("%stimer/%02x/", k.root, shard) }

// Timer holds a timer.
func (k timerKeys) Timer(bookmark string, due time.Time) string {
	return k.Timers(TimerShard(bookmark)) + Millis(due) + "/" + Encode(bookmark)
}

// MisplacedTimer is where a program of before put a timer that it could not keep in order.
func (k timerKeys) MisplacedTimer(bookmark string, due time.Time) string {
	return k.Timers(TimerShard(bookmark)) + MisplacedMillis(due) + "/" + Encode(bookmark)
}

// TimersOf are the keys that a bookmark's timer may have.
func (k timerKeys) TimersOf(b *workflow.Bookmark) (all []string) {
	if b.DueAt != nil {
		if all = append(all, k.Timer(b.ID, *b.DueAt)); MisplacedMillis(*b.DueAt) != "" {
			all = append(all, k.MisplacedTimer(b.ID, *b.DueAt))
		}
	}
	return all
}

// Newest is a time as part of a key whose range begins with the latest one. Where it is used nothing is later than 2286.
func Newest(t time.Time) string { return string(appendNewest(nil, t)) }

func appendNewest(b []byte, t time.Time) []byte {
	return fmt.Appendf(b, "%013d", LastShort-min(max(0, t.UnixMilli()), LastShort))
}

// FromNewest is the time of such a part; the beginning of time if it is none.
func FromNewest(part string) time.Time {
	ms, err := strconv.ParseInt(part, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(LastShort - ms).UTC()
}
