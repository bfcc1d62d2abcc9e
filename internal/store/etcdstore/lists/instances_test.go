package lists

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// The windows of a list follow each other and come to an end, wherever a cursor says
// that it is: made by a clock that was centuries off, or by who wants to do harm.
func TestWindowsOfAListEnd(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, cursor := range []string{"", record.Newest(now) + "/i", record.Newest(now.AddDate(300, 0, 0)) + "/i", "0000000000000/a", "-5/x", "zzz", "9999999999999/x", record.Newest(time.UnixMilli(5)) + "/i", "9223372036854775807/x", "-9223372036854775808/x"} {
		w := firstOf(places{from: cursor}, now)
		for n := 0; w.to != ""; n++ {
			if n == 12 {
				t.Fatalf("from %q on there is no end: %+v", cursor, w)
			}
			next := w.next()
			if next.from != w.to || next.to != "" && next.to <= w.to {
				t.Errorf("from %q on %+v follows on %+v", cursor, next, w)
			}
			w = next
		}
	}
}

// A node that has seen very many lists does not look for all of them again.
func TestKnownListsAreForgottenByHalves(t *testing.T) {
	t.Parallel()
	var k knownLists
	for i := range 3 * mostKnown {
		k.add(fmt.Sprintf("%06d", i))
		if i > mostKnown && (len(k.lists) > mostKnown || len(k.lists) < mostKnown/2) {
			t.Fatalf("%d are known after %d", len(k.lists), i)
		}
	}
	if !slices.IsSorted(k.lists) || k.lists[len(k.lists)-1] != fmt.Sprintf("%06d", 3*mostKnown-1) {
		t.Error("they are out of order, or the last one is not known")
	}
}
