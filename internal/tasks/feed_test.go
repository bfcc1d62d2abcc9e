package tasks

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/claims"
)

// Who reads for a feed that the watch has replaced by then wakes nobody: those who wait are the new one's, and may have left.
func TestWhoReadsInVainWakesNobody(t *testing.T) {
	t.Parallel()
	d := New(Config{})
	old := &feed{reading: true}
	var waits []*waiter
	for range 3 {
		w := &waiter{wake: make(chan struct{}, 1)}
		waits = append(waits, w)
		old.waiters = append(old.waiters, w)
	}
	d.feeds["pack"] = old
	d.reset(true)
	for _, w := range waits[:2] {
		d.leave(w, []string{"pack"})
	}
	for range old.waiters {
		old.wake()
	}
	if left := d.feeds["pack"].waiters; len(left) != 1 || left[0] != waits[2] || len(old.waiters) != 0 {
		t.Errorf("%d wait, and %d for the old one", len(left), len(old.waiters))
	}
}

// A task that comes wakes one of those who wait, and one that goes wakes nobody.
func TestWhatComesWakesWhoWaits(t *testing.T) {
	t.Parallel()
	d := New(Config{})
	w := &waiter{wake: make(chan struct{}, 1)}
	d.feeds["pack"] = &feed{all: true, waiters: []*waiter{w}}
	one := free("big", "", 1)
	d.tell([]claims.News{{Free: claims.Free{Place: one.Place}, Gone: true}})
	if len(w.wake) != 0 {
		t.Error("what goes wakes")
	}
	d.tell([]claims.News{{Free: one}})
	if len(w.wake) != 1 {
		t.Error("nobody is woken")
	}
}

// Lanes whose tasks come one by one, each in time for its turn, do not keep another from its own.
func TestALaneThatWasEmptyWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	f, now := &feed{all: true}, time.Now()
	for i := range 50 {
		f.put(free("big", "", i), now)
	}
	given := map[string]int{}
	for i := range 60 {
		for n, of := range []string{"a", "b"} {
			if f.lanes[lane{of, ""}] == nil {
				f.put(free(of, "", 100+2*i+n), now)
			}
		}
		k := f.next(func(*known) bool { return true })
		given[k.Past.Definition]++
		f.given(k.Place)
	}
	if given["a"] != 20 || given["b"] != 20 || given["big"] != 20 {
		t.Errorf("%v", given)
	}
}

// What a definition has behind more tasks of another than a desk knows has its turn too, when the watch has told of it; of
// each a bounded number.
func TestATurnBeforeManyOfAnother(t *testing.T) {
	t.Parallel()
	f, now := &feed{}, time.Now()
	page := claims.Page{More: true}
	for i := range mostReady {
		page.Free = append(page.Free, free("big", "", i))
	}
	f.read(page, time.Time{}, now)
	for i := range 100 {
		f.tell(claims.News{Free: free("big", "", 10_000+i)}, now)
		f.tell(claims.News{Free: free("small", "north", 20_000+i)}, now)
	}
	if len(f.in) != mostReady+2*mostBeyond || f.ready != mostReady {
		t.Errorf("%d are known, %d of them are ready", len(f.in), f.ready)
	}
	given := map[string]int{}
	for range 10 {
		k := f.next(func(*known) bool { return true })
		given[k.Past.Definition]++
		f.given(k.Place)
	}
	if given["small"] != 5 {
		t.Errorf("%v", given)
	}
}

func free(definition, by string, at int) claims.Free {
	return claims.Free{Place: fmt.Sprintf("pack/%013d/i%d/1", 1_700_000_000_000+int64(at), at), Past: store.TaskPast{Definition: definition, FairBy: by}}
}

// Whatever comes, goes and is read, in whatever order: a feed knows all tasks up to where it says so, each once and of the
// right lane, and not more than it may.
func TestAFeedKnowsWhatItSays(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 1))
		f, is := &feed{}, map[string]claims.Free{} // what is free
		now := time.Now()
		for range 1500 {
			one := free(fmt.Sprint(r.IntN(4)), fmt.Sprint(r.IntN(3)), r.IntN(1_000_000))
			is[one.Place] = one
		}
		give := func() {
			if k := f.next(func(*known) bool { return r.IntN(4) > 0 }); k != nil {
				delete(is, k.Place)
				f.given(k.Place)
			}
		}
		for step := range 2000 {
			switch x := r.IntN(100); {
			case x < 60:
				one := free(fmt.Sprint(r.IntN(4)), fmt.Sprint(r.IntN(3)), r.IntN(1_000_000))
				if old, there := is[one.Place]; there {
					one = old
				}
				is[one.Place] = one
				f.tell(claims.News{Free: one}, now)
			case x < 70:
				for place, one := range is {
					delete(is, place)
					f.tell(claims.News{Free: claims.Free{Place: one.Place}, Gone: true}, now)
					break
				}
			case x < 80:
				give()
			case !f.all:
				behind, _ := f.behind()
				f.reading = true
				page := claims.Page{}
				for _, place := range sortedPlaces(is) {
					if place > behind {
						if page.More = len(page.Free) == pageSize; page.More {
							break
						}
						page.Free = append(page.Free, is[place])
					}
				}
				f.read(page, time.Time{}, now)
			}
			if step%20 > 0 && step > 100 {
				continue
			}
			if why := f.wrong(is); why != "" {
				t.Fatalf("seed %d: %s", seed, why)
			}
		}
	}
}

func sortedPlaces(of map[string]claims.Free) []string {
	places := make([]string, 0, len(of))
	for place := range of {
		places = append(places, place)
	}
	slices.Sort(places)
	return places
}

// wrong says what a feed has wrong of what is free.
func (f *feed) wrong(is map[string]claims.Free) string {
	ready, all := 0, 0
	for l, q := range f.lanes {
		if len(*q) == 0 || !slices.IsSortedFunc(*q, func(a, b known) int { return strings.Compare(a.Place, b.Place) }) {
			return fmt.Sprintf("lane %v is empty or not in order", l)
		}
		for _, k := range *q {
			all++
			if f.in[k.Place] != l || (lane{k.Past.Definition, k.Past.FairBy}) != l {
				return fmt.Sprintf("%s is in %v", k.Place, l)
			}
			if _, there := is[k.Place]; !there {
				return k.Place + " is not free"
			}
			if f.within(k.Place) {
				ready++
			}
		}
	}
	for place := range is {
		if _, known := f.in[place]; !known && f.within(place) {
			return place + " is not known"
		}
	}
	if ready != f.ready || all != len(f.in) || ready > mostReady+pageSize || all-ready > mostAllBeyond+mostBeyond {
		return fmt.Sprintf("%d of %d are ready, and it says %d of %d", ready, all, f.ready, len(f.in))
	}
	return ""
}
