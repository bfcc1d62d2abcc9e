package limits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

// Limits sets limits, and tells how they stand. Make it with [New].
type Limits struct {
	store *etcdstore.Limits
	wake  func([]limit.Line)
	now   func() time.Time
}

// New is limits in a store, by a clock (nil: time.Now); wake is told at which somebody may be given a place since.
func New(s *etcdstore.Limits, wake func([]limit.Line), now func() time.Time) *Limits {
	if now == nil {
		now = time.Now
	}
	return &Limits{s, wake, now}
}

// Place is who has a place of a limit, or waits for one.
type Place = store.Place

// Status is how a limit stands, of all its keys together.
type Status struct {
	store.Limit
	Set     bool // false: it is not set, and somebody waits for it
	Taken   int64
	Waiting int64
	Since   time.Time // when the first of those who wait came; zero: nobody waits
	Keys    []Key     // those with most who wait first
}

// Key is how a limit stands for one key.
type Key struct {
	Key            string
	Taken, Waiting int64
	Since          time.Time  // when the first of those who wait came; zero: nobody waits
	Free           int64      // units that may be taken now, of a limit per time; less than 0: a debt
	Next           time.Time  // when units come that are awaited; zero: by no time
	Hold           *time.Time // until when nobody is given a place, as a service asked for it; nil: nobody asked
}

// List is how all limits stand that are set, or that somebody waits for, by name.
func (l *Limits) List(ctx context.Context) ([]Status, error) {
	all, err := l.store.List(ctx)
	if err != nil {
		return nil, err
	}
	stands, err := l.store.Stands(ctx, "", all...)
	if err != nil {
		return nil, err
	}
	by := map[string]*Status{}
	for _, is := range all {
		by[is.Name] = &Status{Limit: is, Set: true}
	}
	for _, s := range stands {
		if s.Taken+s.Waiting == 0 {
			continue
		}
		if by[s.Limit] == nil {
			by[s.Limit] = &Status{Limit: store.Limit{Name: s.Limit}}
		}
		by[s.Limit].add(s, l.now())
	}
	var out []Status
	for _, s := range by {
		s.sort()
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Status) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// Get is how one stands. One that is not set is one if somebody waits for it, or has a place of it yet.
func (l *Limits) Get(ctx context.Context, name string) (*Status, error) {
	s, _, err := l.look(ctx, name)
	return s, err
}

// look is Get, with the lines at which somebody may be given a place, now or by the time.
func (l *Limits) look(ctx context.Context, name string) (s *Status, lines []limit.Line, err error) {
	is, err := l.store.Get(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	s = &Status{Limit: store.Limit{Name: name}}
	var set []store.Limit
	if is != nil {
		s.Limit, s.Set, set = *is, true, []store.Limit{*is}
	}
	stands, err := l.store.Stands(ctx, name, set...)
	if err != nil {
		return nil, nil, err
	}
	for _, at := range stands {
		if at.Free(l.now()) || !at.Next(l.now()).IsZero() {
			lines = append(lines, at.Line)
		}
		if at.Taken+at.Waiting > 0 || !at.Empty(l.now()) {
			s.add(at, l.now())
		}
	}
	if !s.Set && len(s.Keys) == 0 {
		return nil, nil, l.notFound(ctx, name)
	}
	s.sort()
	return s, lines, nil
}

func (s *Status) add(at *etcdstore.Stand, now time.Time) {
	s.Taken, s.Waiting = s.Taken+at.Taken, s.Waiting+at.Waiting
	if !at.Since.IsZero() && (s.Since.IsZero() || at.Since.Before(s.Since)) {
		s.Since = at.Since
	}
	k := Key{Key: at.Key, Taken: at.Taken, Waiting: at.Waiting, Since: at.Since}
	if at.Is != nil && at.Is.Rate != nil {
		k.Free = at.Bucket.Free(*at.Is.Rate, now)
	}
	if !at.Free(now) {
		k.Next = at.Next(now)
	}
	if now.Before(at.Bucket.Hold) {
		k.Hold = &at.Bucket.Hold
	}
	s.Keys = append(s.Keys, k)
}

// mostKeys is how many keys a status has.
const mostKeys = 100

func (s *Status) sort() {
	slices.SortFunc(s.Keys, func(a, b Key) int {
		return cmp.Or(-cmp.Compare(a.Waiting, b.Waiting), -cmp.Compare(a.Taken, b.Taken), cmp.Compare(a.Key, b.Key))
	})
	s.Keys = s.Keys[:min(len(s.Keys), mostKeys)]
}

func (l *Limits) notFound(ctx context.Context, name string) error {
	detail := fmt.Sprintf("there is no limit %s", workflow.Shorten(name))
	if all, err := l.store.List(ctx); err == nil {
		var names []string
		for _, is := range all {
			names = append(names, is.Name)
		}
		detail += workflow.DidYouMean(name, names[:min(len(names), 200)])
	}
	return workflow.Fail(workflow.CodeLimitNotFound, detail+": set it, or list those that there are")
}

// Setting is what a limit is set to.
type Setting struct {
	Most *int64      // how many may have a place at once, of each key; nil: any number, where there is a rate
	Rate *limit.Rate // how many units may be taken in a time; nil: any number, where there is Most
}

// check tells what is wrong with a setting of a limit, each with its place in the body.
func (set Setting) check(name string) (problems workflow.Problems) {
	add := func(code, pointer, detail string) {
		problems = append(problems, workflow.Problem{Code: code, Place: workflow.Place{Pointer: pointer}, Detail: detail})
	}
	if err := (limit.Line{Limit: name}).Check(); err != nil {
		add("bad-name", "/name", err.Error())
	}
	short := workflow.Shorten(name)
	switch {
	case set.Most == nil && set.Rate == nil:
		add("missing", "/most", "most is missing: how many may have a place of limit "+short+" at once; or rate, how many units may be taken in a time")
	case set.Most != nil && (*set.Most < 0 || *set.Most > limit.MaxMost):
		add("bad-most", "/most", fmt.Sprintf("limit %s: most is %d; from 0, which gives nobody a place, to %d may have one of a key at once", short, *set.Most, limit.MaxMost))
	}
	if set.Rate != nil {
		if err := set.Rate.Check(); err != nil {
			add("bad-rate", "/rate", fmt.Sprintf("limit %s: %v", short, err))
		}
	}
	return problems
}

// Set says how many may have a place at once, of each key, and how many units may be taken in a time. made: there was none of this name.
func (l *Limits) Set(ctx context.Context, name string, set Setting, by string) (s *Status, made bool, err error) {
	if problems := set.check(name); len(problems) > 0 {
		return nil, false, &workflow.Error{Code: workflow.CodeInvalid, Detail: problems[0].Detail, Problems: problems}
	}
	const tries = 5
	for range tries {
		was, err := l.store.Get(ctx, name)
		if err != nil {
			return nil, false, err
		}
		var revision int64
		if was != nil {
			revision = was.Modified
		} else if all, err := l.store.List(ctx); err != nil {
			return nil, false, err
		} else if len(all) >= etcdstore.MostLimits {
			return nil, false, workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("there are %d limits, and no more are possible: count by a key instead of by a name", len(all)))
		}
		is := store.Limit{Name: name, Most: limit.AnyNumber, Rate: set.Rate, At: l.now().UTC(), By: by}
		if set.Most != nil {
			is.Most = *set.Most
		}
		done, err := l.store.Set(ctx, is, revision)
		if err != nil {
			return nil, false, err
		}
		if done {
			s, lines, err := l.look(ctx, name)
			l.wake(lines) // where that was not to be read, a sweep finds them
			return s, was == nil, err
		}
	}
	return nil, false, workflow.Fail(workflow.CodeBusy, fmt.Sprintf("limit %s was changed by others at the same time, again and again", name))
}

// Forget deletes a limit. Who has a place keeps it; who waits goes on waiting, until it is set again.
func (l *Limits) Forget(ctx context.Context, name string) error {
	const tries = 5
	for range tries {
		is, err := l.store.Get(ctx, name)
		if err != nil {
			return err
		}
		if is == nil {
			return l.notFound(ctx, name)
		}
		if done, err := l.store.Forget(ctx, is); err != nil || done {
			return err
		}
	}
	return errors.New("the limit was changed by others at the same time, again and again")
}

// Taken is who has places of a limit; next is the cursor of the next page, "" at the end.
func (l *Limits) Taken(ctx context.Context, name, cursor string, most int) (_ []Place, next string, err error) {
	w, err := l.store.Taken(ctx, name, cursor, int64(most))
	return w.Places, w.Next, err
}

// Waiting is who waits for places of a limit: of a key in the order in which they are given one.
func (l *Limits) Waiting(ctx context.Context, name, cursor string, most int) (_ []Place, next string, err error) {
	w, err := l.store.Waiting(ctx, name, cursor, int64(most))
	return w.Places, w.Next, err
}
