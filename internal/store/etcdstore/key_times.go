package etcdstore

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

// lastShort is the latest time in 13 digits: in November of 2286.
const lastShort = store.LastListedMilli

// behindShort is what a later time begins with.
const behindShort = "9999999999999"

// millis is a time as part of a key whose range begins with the soonest one.
func millis(t time.Time) string {
	ms := min(max(0, t.UnixMilli()), store.LastMilli)
	if ms <= lastShort {
		return fmt.Sprintf("%013d", ms)
	}
	return fmt.Sprintf("%s%015d", behindShort, ms)
}

// fromMillis is the time of such a part, also of a misplaced key; the beginning of time if it is none.
func fromMillis(part string) time.Time {
	if late, ok := strings.CutPrefix(part, behindShort); ok && len(late) == 15 {
		part = late
	}
	ms, err := strconv.ParseInt(part, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// misplaced tells whether a time in a key is one as a program of before wrote it, which is not in the order of the others.
func misplaced(part string) bool {
	return (len(part) == 14 || len(part) == 15) && strings.Trim(part, "0123456789") == ""
}

// misplacedMillis is where a program of before put a time; "" if it is where it is now.
func misplacedMillis(t time.Time) string {
	if ms := t.UnixMilli(); ms > lastShort {
		return strconv.FormatInt(ms, 10)
	}
	return ""
}

// timerKeys are the keys of timers.
type timerKeys struct{ root string }

func (k timerKeys) timers(shard int) string { return fmt.Sprintf("%stimer/%02x/", k.root, shard) }
func (k timerKeys) timer(bookmark string, due time.Time) string {
	return k.timers(timerShard(bookmark)) + millis(due) + "/" + encode(bookmark)
}

// misplacedTimer is where a program of before put a timer that it could not keep in order.
func (k timerKeys) misplacedTimer(bookmark string, due time.Time) string {
	return k.timers(timerShard(bookmark)) + misplacedMillis(due) + "/" + encode(bookmark)
}

// timersOf are the keys that a bookmark's timer may have.
func (k timerKeys) timersOf(b *workflow.Bookmark) (all []string) {
	if b.DueAt != nil {
		if all = append(all, k.timer(b.ID, *b.DueAt)); misplacedMillis(*b.DueAt) != "" {
			all = append(all, k.misplacedTimer(b.ID, *b.DueAt))
		}
	}
	return all
}

// newest is a time as part of a key whose range begins with the latest one. Where it is used nothing is later than 2286.
func newest(t time.Time) string {
	return fmt.Sprintf("%013d", lastShort-min(max(0, t.UnixMilli()), lastShort))
}

// fromNewest is the time of such a part; the beginning of time if it is none.
func fromNewest(part string) time.Time {
	ms, err := strconv.ParseInt(part, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(lastShort - ms).UTC()
}
