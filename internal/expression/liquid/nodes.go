package liquid

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/liquid/value"
)

// A node is a part of a template that can be rendered.
type node interface {
	render(r *rendering) error
}

type (
	nodes []node

	// text is written as it is.
	text string

	// valued is {{ }}, or {% echo %}.
	valued struct {
		at    int
		value expression
	}

	// branches is if, unless and case: the first branch that holds is rendered, and of a case each one.
	branches struct {
		of  []branch
		all bool
	}
	branch struct {
		at   int
		when expression // nil: if no other one was rendered
		not  bool
		body nodes
	}

	// matched is the condition of a when: the value of its case is one of these.
	matched struct {
		value expression
		any   []expression
	}

	// loop is for and tablerow.
	loop struct {
		at       int
		name     string
		key      string // which offset:continue goes on from
		over     expression
		limit    expression
		offset   expression
		resume   bool // offset:continue
		reversed bool
		body     nodes
		none     nodes
		cols     expression // of a table, which may have none
		table    bool
	}

	assigned struct {
		at    int
		name  string
		value expression
	}
	captured struct {
		name string
		body nodes
	}

	// counted is increment and decrement.
	counted struct {
		name string
		by   int64
	}

	// cycled is cycle: another one of its values each time that it, or one of its group, is rendered.
	cycled struct {
		at    int
		group expression // nil: its values are its name
		key   string
		of    []expression
	}

	// jump is break and continue.
	jump struct{ err error }
)

var (
	errBreak    = errors.New("break")
	errContinue = errors.New("continue")
)

func (l nodes) render(r *rendering) error {
	for _, n := range l {
		if err := n.render(r); err != nil {
			return err
		}
	}
	return nil
}

func (t text) render(r *rendering) error { return r.write(string(t)) }

func (n valued) render(r *rendering) error {
	v, err := n.value.eval(r)
	if err == nil {
		err = r.writeValue(v, 0)
	}
	return located(n.at, err)
}

// located says where in the template an error came up, unless that is known.
func located(at int, err error) error {
	var m *mistake
	if err == nil || errors.As(err, &m) || errors.Is(err, errBreak) || errors.Is(err, errContinue) {
		return err
	}
	return &mistake{at, err}
}

func (n branches) render(r *rendering) error {
	if err := r.spend(0); err != nil {
		return err
	}
	done := false
	for _, b := range n.of {
		if b.when == nil {
			if done {
				continue
			}
			if err := b.body.render(r); err != nil || !n.all {
				return err
			}
			continue
		}
		v, err := b.when.eval(r)
		if err != nil {
			return located(b.at, err)
		}
		if value.Truthy(v) == b.not {
			continue
		}
		done = true
		if err := b.body.render(r); err != nil || !n.all {
			return err
		}
	}
	return nil
}

func (m matched) eval(r *rendering) (any, error) {
	v, err := m.value.eval(r)
	if err != nil {
		return nil, err
	}
	for _, e := range m.any {
		w, err := e.eval(r)
		if err != nil {
			return nil, err
		}
		if value.Equal(v, w) {
			return true, nil
		}
	}
	return false, nil
}

func (n *loop) render(r *rendering) error {
	if err := r.spend(0); err != nil {
		return located(n.at, err)
	}
	items, err := n.items(r)
	if err != nil {
		return located(n.at, err)
	}
	if items.n == 0 && !n.table {
		return n.none.render(r)
	}
	if items.nothing {
		return nil
	}
	cols := items.n
	if n.cols != nil {
		v, err := n.cols.eval(r)
		if err != nil {
			return located(n.at, err)
		}
		if cols = value.Int(v); cols < 1 {
			cols = items.n
		}
	}
	state := map[string]any{"length": items.n, "parentloop": r.loop("forloop")}
	name := "forloop"
	if n.table {
		name = "tablerowloop"
		if err := r.write("<tr class=\"row1\">\n"); err != nil {
			return err
		}
	}
	leave := r.enter(n.name, name, state)
	defer leave()
	for i := range items.n {
		position(state, i, items.n)
		r.frame().item = items.item(i)
		if n.table {
			err = n.cell(r, state, i, cols, items.n)
		} else {
			err = n.body.render(r)
		}
		if errors.Is(err, errBreak) {
			break
		}
		if err != nil && !errors.Is(err, errContinue) {
			return err
		}
		if err := r.spend(0); err != nil {
			return located(n.at, err)
		}
	}
	if n.table {
		return r.write("</tr>\n")
	}
	return nil
}

func position(state map[string]any, i, n int64) {
	state["index"], state["index0"] = i+1, i
	state["rindex"], state["rindex0"] = n-i, n-i-1
	state["first"], state["last"] = i == 0, i == n-1
}

// cell renders one cell of a table, and the sign of a new row behind it.
func (n *loop) cell(r *rendering, state map[string]any, i, cols, all int64) error {
	col := i%cols + 1
	state["col"], state["col0"], state["row"] = col, col-1, i/cols+1
	state["col_first"], state["col_last"] = col == 1, col == cols
	if err := r.write(`<td class="col` + strconv.FormatInt(col, 10) + `">`); err != nil {
		return err
	}
	jump := n.body.render(r)
	if jump != nil && !errors.Is(jump, errBreak) && !errors.Is(jump, errContinue) {
		return jump
	}
	if err := r.write("</td>"); err != nil || errors.Is(jump, errBreak) || col < cols || i == all-1 {
		return cmp.Or(err, jump)
	}
	return r.write("</tr>\n<tr class=\"row" + strconv.FormatInt(i/cols+2, 10) + `">`)
}

// items is what a loop runs over: elements of a list, or numbers.
type items struct {
	list     []any
	first    int64 // without a list
	n        int64
	reversed bool
	nothing  bool // nil, of which there is not even a table
}

func (s items) item(i int64) any {
	if s.reversed {
		i = s.n - 1 - i
	}
	if s.list != nil {
		return s.list[i]
	}
	return s.first + i
}

func (n *loop) items(r *rendering) (items, error) {
	v, err := n.over.eval(r)
	if err != nil {
		return items{}, err
	}
	all := items{reversed: n.reversed, nothing: v == nil}
	switch v := v.(type) {
	case value.Span:
		all.first, all.n = v.First, v.Size()
	case []any:
		all.list, all.n = v, int64(len(v))
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all.list = append(all.list, []any{name, v[name]})
		}
		all.n = int64(len(v))
	case string:
		if v != "" {
			all.list, all.n = []any{v}, 1
		}
	}
	skip := int64(0)
	switch {
	case n.resume:
		skip = r.reached[n.key]
	case n.offset != nil:
		v, err := n.offset.eval(r)
		if err != nil {
			return items{}, err
		}
		skip = max(0, value.Int(v))
	}
	skip = min(skip, all.n)
	most := all.n - skip
	if n.limit != nil {
		v, err := n.limit.eval(r)
		if err != nil {
			return items{}, err
		}
		most = min(most, max(0, value.Int(v)))
	}
	if all.list != nil {
		all.list = all.list[skip : skip+most]
	} else {
		all.first += skip
	}
	all.n = most
	put(&r.reached, n.key, skip+most)
	return all, nil
}

func (n assigned) render(r *rendering) error {
	v, err := n.value.eval(r)
	if err != nil {
		return located(n.at, err)
	}
	return located(n.at, r.assign(n.name, v))
}

func (n captured) render(r *rendering) error {
	before := r.into
	r.into = &strings.Builder{}
	defer func() { r.into = before }()
	err := n.body.render(r)
	return cmp.Or(err, r.assign(n.name, r.into.String()))
}

func (n counted) render(r *rendering) error {
	v := r.counters[n.name]
	put(&r.counters, n.name, v+n.by)
	if n.by < 0 {
		v--
	}
	return r.write(strconv.FormatInt(v, 10))
}

func (n cycled) render(r *rendering) error {
	key := n.key
	if n.group != nil {
		v, err := n.group.eval(r)
		if err != nil {
			return located(n.at, err)
		}
		name, err := value.TextOf(v)
		if err != nil {
			return located(n.at, err)
		}
		if key = "\x00" + name; len(key) > value.MaxText {
			return located(n.at, evaluation.ErrMemory)
		}
	}
	if _, ok := r.cycles[key]; !ok {
		if err := r.hold(len(key)); err != nil {
			return located(n.at, err)
		}
	}
	i := r.cycles[key] % len(n.of)
	put(&r.cycles, key, i+1)
	v, err := n.of[i].eval(r)
	if err == nil {
		err = r.writeValue(v, 0)
	}
	return located(n.at, err)
}

func (n jump) render(*rendering) error { return n.err }

// misplaced says of a tag that ends a block, or goes on with one, what is wrong with its place.
func misplaced(t token, open string) error {
	of, ends := strings.CutPrefix(t.name, "end")
	switch {
	case ends && open != "":
		return mistaken(t.at, "end%s ends nothing here; %s is what is open, and ends with end%s", of, open, open)
	case ends:
		return mistaken(t.at, "end%s ends nothing here: no %s is open", of, of)
	case t.name == "else":
		return mistaken(t.at, "else stands within case or for or if or unless")
	case t.name == "elsif":
		return mistaken(t.at, "elsif stands within if or unless")
	}
	return mistaken(t.at, "%s", fmt.Sprintf("%s stands within case", t.name))
}
