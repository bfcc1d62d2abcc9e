package filter

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/liquid/value"
	"github.com/weft-run/weft/pkg/workflow"
)

// listFilters take a list, or any value, and give one or what is in it.
var listFilters = map[string]Filter{
	"first":   {0, 0, func(c *Call) (any, error) { return value.At(c.Of, "first"), nil }},
	"last":    {0, 0, func(c *Call) (any, error) { return value.At(c.Of, "last"), nil }},
	"size":    {0, 0, size},
	"join":    {0, 1, join},
	"reverse": {0, 0, onList(func(l []any) []any { l = slices.Clone(l); slices.Reverse(l); return l })},
	"concat":  {1, 1, concat},
	"map":     {1, 1, mapped},
	"compact": {0, 1, func(c *Call) (any, error) { return kept(c, func(v any) bool { return v != nil }) }},
	"where":   {1, 2, func(c *Call) (any, error) { return kept(c, c.matches) }},
	"reject":  {1, 2, func(c *Call) (any, error) { return kept(c, func(v any) bool { return !c.matches(v) }) }},
	"find": {1, 2, func(c *Call) (any, error) {
		found, err := kept(c, c.matches)
		return value.Element(found, 0), err
	}},
	"has": {1, 2, func(c *Call) (any, error) {
		found, err := kept(c, c.matches)
		return len(found) > 0, err
	}},
	"find_index": {1, 2, func(c *Call) (any, error) {
		list, err := c.list()
		if i := slices.IndexFunc(list, func(e any) bool { return c.matches(c.property(e)) }); i >= 0 {
			return int64(i), err
		}
		return nil, err
	}},
	"uniq":         {0, 1, uniq},
	"sort":         {0, 1, sorter(order)},
	"sort_natural": {0, 1, sorter(orderOfLetters)},
	"sum":          {0, 1, sum},
	"slice":        {1, 2, slice},
	"default":      {1, 1, fallback},
}

func onList(f func([]any) []any) func(c *Call) (any, error) {
	return func(c *Call) (any, error) {
		list, err := c.list()
		if err != nil {
			return nil, err
		}
		return f(list), nil
	}
}

// property is what a filter looks at of an element: the field or the place that its argument names, or the element itself
// without one.
func (c *Call) property(e any) any {
	if len(c.Args) == 0 || c.Args[0] == nil && c.optional {
		return e
	}
	if i, ok := evaluation.Index(c.Args[0]); ok {
		if text, isText := e.(string); isText {
			return letter(text, i)
		}
	}
	if c.path == nil {
		name, _ := c.argText(0) // what is no name is none
		c.path = strings.Split(name, ".")
	}
	for _, name := range c.path {
		if e = value.At(e, name); e == nil {
			break
		}
	}
	return e
}

// letter is the character at a place of a text, which counts from the end where it is negative; nil if there is none.
func letter(text string, i int) any {
	if i < 0 {
		i += utf8.RuneCountInString(text)
	}
	for _, r := range text {
		if i == 0 {
			return string(r)
		}
		i--
	}
	return nil
}

// matches reports whether the field of an element is what the filter wants: its second value, or true.
func (c *Call) matches(v any) bool {
	if len(c.Args) > 1 {
		return value.Equal(v, c.Args[1])
	}
	return value.Truthy(v)
}

// kept are the elements of which the property is wanted.
func kept(c *Call, wanted func(any) bool) ([]any, error) {
	list, err := c.list()
	out := []any{}
	for _, e := range list {
		if wanted(c.property(e)) {
			out = append(out, e)
		}
	}
	return out, err
}

func size(c *Call) (any, error) {
	switch c.Of.(type) {
	case string, []any, map[string]any, value.Span:
		if m, ok := c.Of.(map[string]any); ok {
			return int64(len(m)), nil
		}
		return value.At(c.Of, "size"), nil
	}
	return int64(0), nil
}

func join(c *Call) (any, error) {
	glue, err := c.argTextOr(0, " ")
	if err != nil {
		return nil, err
	}
	list, err := c.list()
	if err != nil {
		return nil, err
	}
	size, texts := 0, make([]string, len(list))
	for i, e := range list {
		if texts[i], err = value.TextOf(e); err != nil {
			return nil, err
		}
		if size += len(texts[i]) + len(glue); size > value.MaxText {
			return nil, value.BoundText(size)
		}
	}
	return strings.Join(texts, glue), nil
}

func concat(c *Call) (any, error) {
	list, err := c.list()
	if err != nil {
		return nil, err
	}
	other := Call{Of: c.Args[0]}
	switch other.Of.(type) {
	case []any, value.Span:
	default:
		return nil, fmt.Errorf("it takes a list behind its colon, and not %s", value.Shown(c.Args[0]))
	}
	more, err := other.list()
	if err != nil {
		return nil, err
	}
	if n := len(list) + len(more); n > value.MaxList {
		return nil, value.Bound(make([]any, n))
	}
	return slices.Concat(list, more), nil
}

func mapped(c *Call) (any, error) {
	list, err := c.list()
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = c.property(e)
	}
	return out, err
}

// uniq leaves out what was there before. Values are told apart by their JSON, so that it takes as long as it has to read.
func uniq(c *Call) (any, error) {
	list, err := c.list()
	if err != nil {
		return nil, err
	}
	seen, out, size := map[string]bool{}, []any{}, 0
	for _, e := range list {
		raw, err := workflow.Marshal(c.property(e))
		if err != nil {
			return nil, err
		}
		if size += len(raw); size > 16*value.MaxText {
			return nil, value.BoundText(size)
		}
		if err := c.Spend(); err != nil {
			return nil, err
		}
		if !seen[string(raw)] {
			seen[string(raw)] = true
			out = append(out, e)
		}
	}
	return out, nil
}

var errOrder = errors.New("the elements have no order: sorted are numbers, texts or times, all of one kind")

// order puts nil behind all others.
func order(a, b any) (int, error) {
	switch {
	case a == nil && b == nil:
		return 0, nil
	case a == nil:
		return 1, nil
	case b == nil:
		return -1, nil
	}
	n, ok, err := value.Compare(a, b)
	if err != nil || !ok {
		return 0, errOrder
	}
	return n, nil
}

// orderOfLetters does not tell large letters from small ones.
func orderOfLetters(a, b any) (int, error) {
	if a == nil || b == nil {
		return order(a, b)
	}
	x, err := value.TextOf(a)
	if err != nil {
		return 0, err
	}
	y, err := value.TextOf(b)
	return strings.Compare(strings.ToLower(x), strings.ToLower(y)), err
}

func sorter(order func(a, b any) (int, error)) func(c *Call) (any, error) {
	return func(c *Call) (any, error) {
		list, err := c.list()
		if err != nil {
			return nil, err
		}
		type keyed struct{ key, value any }
		all := make([]keyed, len(list))
		for i, e := range list {
			all[i] = keyed{c.property(e), e}
		}
		var problem error
		slices.SortStableFunc(all, func(a, b keyed) int {
			if problem != nil {
				return 0
			}
			n, err := order(a.key, b.key)
			problem = cmp.Or(err, c.Spend())
			return n
		})
		out := make([]any, len(all))
		for i, e := range all {
			out[i] = e.value
		}
		return out, problem
	}
}

func sum(c *Call) (any, error) {
	list, err := c.list()
	if err != nil {
		return nil, err
	}
	total := any(int64(0))
	for _, e := range list {
		if total, err = computed(total, value.Number(c.property(e)), func(a, b *big.Rat) *big.Rat { return a.Add(a, b) }); err != nil {
			return nil, err
		}
		if err := c.Spend(); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// slice gives characters of a text, or elements of a list, from a start on, which counts from the end where it is
// negative; nothing where there is nothing.
func slice(c *Call) (any, error) {
	start, length := value.Int(c.Args[0]), int64(1)
	if len(c.Args) > 1 {
		length = value.Int(c.Args[1])
	}
	switch v := c.Of.(type) {
	case []any:
		return part(v, start, length), nil
	case value.Span:
		list, err := v.List()
		return part(list, start, length), err
	}
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	if utf8.RuneCountInString(s) == len(s) {
		return string(part([]byte(s), start, length)), nil
	}
	return string(part([]rune(s), start, length)), nil
}

func part[T any](all []T, start, length int64) []T {
	n := int64(len(all))
	if start < 0 {
		start += n
	}
	if start < 0 || start >= n || length <= 0 {
		return all[:0]
	}
	return all[start:][:min(length, n-start)]
}

// fallback is the value, or another one for nil, false and what is empty.
func fallback(c *Call) (any, error) {
	if c.Of == nil || value.IsEmpty(c.Of) || c.Of == false && !value.Truthy(c.Named["allow_false"]) {
		return c.Args[0], nil
	}
	return c.Of, nil
}
