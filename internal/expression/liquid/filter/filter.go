// Package filter has Liquid's filters.
//
// Guaranteed: a filter gives what Shopify's Liquid gives (docs/expressions.md says what differs), changes nothing that it is
// given, and takes and gives at most 1 MiB of text and 100,000 elements. Numbers are computed as decimals. Not
// guaranteed: how long one takes; what may take long asks [Call].Spend now and then.
package filter

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weft-run/weft/internal/expression/liquid/value"
)

// A Call is one application of a filter.
type Call struct {
	Of    any   // what it is applied to
	Args  []any // what stands behind the colon
	Named map[string]any
	Now   func() time.Time
	Spend func() error // asked by what takes long; an error ends it

	path     []string // of the property that the first value names
	optional bool     // that value may be left out
}

// A Filter changes a value. least and most are how many values it takes behind its colon.
type Filter struct {
	least, most int
	run         func(c *Call) (any, error)
}

// Named is the filter of a name.
func Named(name string) (f Filter, ok bool) {
	f, ok = filters[name]
	return f, ok
}

// Names are those of all filters, sorted.
func Names() []string { return slices.Sorted(maps.Keys(filters)) }

// Takes says how many values a filter takes behind its colon, for people; needs reports whether it takes any in any case.
func (f Filter) Takes() (text string, needs bool) { return arguments(f), f.least > 0 }

// Apply applies the filter. Texts may have 1 MiB and lists 100,000 elements, before and after; the error otherwise is
// [evaluation.ErrMemory].
func (f Filter) Apply(c *Call) (any, error) {
	if len(c.Args) < f.least || len(c.Args) > f.most {
		return nil, fmt.Errorf("it takes %s, and is given %d", arguments(f), len(c.Args))
	}
	if err := value.Bound(c.Of); err != nil {
		return nil, err
	}
	for _, v := range c.Args {
		if err := value.Bound(v); err != nil {
			return nil, err
		}
	}
	c.optional = f.least == 0
	v, err := f.run(c)
	return v, cmp.Or(err, value.Bound(v))
}

func arguments(f Filter) string {
	switch {
	case f.most == 0:
		return "nothing behind a colon"
	case f.least == f.most && f.most == 1:
		return "one value behind a colon"
	case f.least == f.most:
		return fmt.Sprintf("%d values behind a colon", f.most)
	}
	return fmt.Sprintf("%d to %d values behind a colon", f.least, f.most)
}

// text is what the filter is applied to, as text.
func (c *Call) text() (string, error) { return value.TextOf(c.Of) }

// arg is a value behind the colon; nil if there are fewer.
func (c *Call) arg(i int) any {
	if i >= len(c.Args) {
		return nil
	}
	return c.Args[i]
}

func (c *Call) argText(i int) (string, error) { return value.TextOf(c.arg(i)) }

// argTextOr is a value behind the colon as text, or this one if there is none.
func (c *Call) argTextOr(i int, otherwise string) (string, error) {
	if i >= len(c.Args) {
		return otherwise, nil
	}
	return c.argText(i)
}

// list is what the filter is applied to as a flat list: elements of lists in it are elements of it, and what is no list
// is its only element, unless it is nil.
func (c *Call) list() ([]any, error) {
	switch v := c.Of.(type) {
	case nil:
		return nil, nil
	case value.Span:
		return v.List()
	case []any:
		return c.flat(v)
	}
	return []any{c.Of}, nil
}

func (c *Call) flat(list []any) ([]any, error) {
	nested := slices.ContainsFunc(list, func(e any) bool { _, ok := e.([]any); return ok })
	if !nested {
		return list, nil
	}
	return value.Flatten(nil, list, 0)
}

// filters are all there are, by name.
var filters = allOf(textFilters, numberFilters, listFilters, dateFilters, elsaFilters, dotnetFilters)

func allOf(some ...map[string]Filter) map[string]Filter {
	all := map[string]Filter{}
	for _, m := range some {
		maps.Copy(all, m)
	}
	return all
}
