package recent_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/recent"
)

func told(events []recent.Event) (s string) {
	for _, e := range events {
		s += fmt.Sprintf("%s/%s/%s ", e.Name, e.CorrelationID, e.ID)
	}
	return s
}

func TestWhatIsLikeANameIsTold(t *testing.T) {
	t.Parallel()
	var r recent.Events
	if got := r.Like([]string{"approved"}); len(got) != 0 {
		t.Errorf("of nothing: %s", told(got))
	}
	for i, e := range []recent.Event{{Name: "approved", CorrelationID: "o-1"}, {Name: "shipped"}, {Name: "aproved"}, {Name: "Approved", InstanceID: "x"}, {Name: "approved", CorrelationID: "o-1"}, {Name: ""}} {
		e.ID, e.At = fmt.Sprint(i), time.Unix(int64(i), 0)
		r.Note(e)
	}
	if got, want := told(r.Like([]string{"approved", "paid"})), "approved/o-1/4 Approved//3 aproved//2 "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := r.Like(nil); len(got) != 0 {
		t.Errorf("of no name: %s", told(got))
	}
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	t.Parallel()
	var r recent.Events
	r.Note(recent.Event{Name: "first"})
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range recent.Most {
				r.Note(recent.Event{Name: "many", CorrelationID: fmt.Sprint(g, "-", i)})
			}
		})
	}
	all.Wait()
	if got := r.Like([]string{"first"}); len(got) != 0 {
		t.Errorf("the first is still there: %s", told(got))
	}
	if got := r.Like([]string{"many"}); len(got) != 20 {
		t.Errorf("%d are told", len(got))
	}
	for i := range 300 {
		r.Note(recent.Event{Name: fmt.Sprintf("many%d", i/10), CorrelationID: fmt.Sprint(i), Met: i % 2})
	}
	if got := r.Like([]string{"many"}); len(got) != 50 || got[0].CorrelationID != "299" {
		t.Errorf("%d are told: %s", len(got), told(got))
	}
	r.Note(recent.Event{Name: "last", ID: "l"})
	if got := told(r.Like([]string{"last"})); got != "last//l " {
		t.Errorf("got %s", got)
	}
}

// A flood of events that met somebody takes nothing of those that met nobody, which are few.
func TestWhatMetNobodyIsRememberedBesideAFlood(t *testing.T) {
	t.Parallel()
	var r recent.Events
	r.Note(recent.Event{ID: "before", Name: "paid", Met: 1})
	r.Note(recent.Event{ID: "lost", Name: "aproved"})
	for i := range recent.Most {
		r.Note(recent.Event{Name: "approved", CorrelationID: fmt.Sprint(i), Met: 1})
		if i%1000 == 0 {
			r.Note(recent.Event{ID: fmt.Sprint(i), Name: "aproved", CorrelationID: fmt.Sprint(i)})
		}
	}
	got := r.Like([]string{"approved"}) // which both nearly are
	unmet := slices.DeleteFunc(slices.Clone(got), func(e recent.Event) bool { return e.Met > 0 })
	if want := "aproved/9000/9000 aproved/8000/8000 "; len(got) != 20+11 || !strings.HasPrefix(told(unmet), want) || !strings.HasSuffix(told(unmet), "aproved//lost ") {
		t.Errorf("%d, of which met nobody: %s", len(got), told(unmet))
	}
	if got := r.Like([]string{"paid"}); len(got) != 0 {
		t.Errorf("what met somebody is still there: %s", told(got))
	}
}

func TestOfBothKindsSomeAreChosen(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ all, want string }{
		{"", ""}, {"mmm", "mmm"}, {"mmmmmm", "mmmm"}, {"uuuuuu", "uuuu"}, {"mmmmmu", "mmmu"}, {"mmmmmuuuuu", "mmuu"}, {"ummmmm", "ummm"}, {"uuuuum", "uuum"},
	} {
		if got := recent.Chosen([]byte(tc.all), 4, func(b *byte) bool { return *b == 'u' }); string(got) != tc.want {
			t.Errorf("of %s: %s, want %s", tc.all, got, tc.want)
		}
	}
}

// BenchmarkLike asks for five names among as many as are remembered, which all differ and are nearly
// as long: alike is the worst, as they have their letters in common and not their ends.
func BenchmarkLike(b *testing.B) {
	for _, what := range []string{"strange", "alike"} {
		b.Run(what, func(b *testing.B) {
			var r recent.Events
			var names []string
			for i := range recent.Most {
				name := fmt.Sprintf("%0128d", i*7919)
				if what == "alike" {
					name = fmt.Sprintf("%02d%s%03d", i/1000, strings.Repeat("approved.", 14)[:123], i%1000)
				}
				r.Note(recent.Event{Name: name, Met: i % 2}) // both halves are full
			}
			for i := range 5 {
				names = append(names, strings.Repeat(string(rune('v'+i)), 2)+strings.Repeat("approved.", 14)[:123]+strings.Repeat(string(rune('v'+i)), 3))
			}
			for b.Loop() {
				if got := r.Like(names); len(got) > 0 {
					b.Fatal(told(got))
				}
			}
		})
	}
}
