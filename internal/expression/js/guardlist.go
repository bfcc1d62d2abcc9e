package js

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/js/mend"
)

// hardenText bounds what makes long texts.
func (x *scriptRun) hardenText(want func(string) bool) {
	names := wanted(want, []string{"padStart", "padEnd", "repeat", "concat", "replace", "replaceAll",
		"toUpperCase", "toLowerCase", "toLocaleUpperCase", "toLocaleLowerCase", "normalize"})
	if len(names) == 0 {
		return
	}
	most := int64(x.maxText())
	size := func(c *goja.FunctionCall) int64 { return int64(len(c.This.String())) }
	pad := func(c *goja.FunctionCall) { x.atMost(c.Argument(0).ToInteger(), most) }
	replace := func(c *goja.FunctionCall) { x.replacing(c, size(c)) }
	pre := map[string]before{
		"padStart": pad, "padEnd": pad, "replace": replace, "replaceAll": replace,
		"repeat": func(c *goja.FunctionCall) {
			if n := c.Argument(0).ToInteger(); n > 0 {
				x.atMost(size(c), most/n)
			}
		},
		"concat": func(c *goja.FunctionCall) {
			n := size(c)
			for _, a := range c.Arguments {
				n += textSize(a)
				x.atMost(n, most)
			}
		},
	}
	proto := x.proto("String")
	for _, n := range names {
		check := pre[n]
		x.wrap(proto, n, func(c *goja.FunctionCall) {
			x.coerce(c)
			if check != nil {
				check(c)
			}
		}, x.checkText)
	}
}

// hardenRaw bounds String.raw, which walks a list that need not be a template's.
func (x *scriptRun) hardenRaw() {
	x.wrap(x.global("String"), "raw", func(c *goja.FunctionCall) {
		m := measure{x: x, items: maxItems, text: int64(x.maxText())}
		if o, ok := c.Argument(0).(*goja.Object); ok {
			raw := o.Get("raw")
			if list, ok := raw.(*goja.Object); ok {
				m.list(list, 0, 0)
			}
			once := x.vm.NewObject() // the builtin gets the list that was measured
			_ = once.Set("raw", raw)
			c.Arguments = slices.Clone(c.Arguments)
			c.Arguments[0] = once
		}
		for _, a := range c.Arguments {
			m.spend(1, textSize(a), 0)
		}
	}, x.checkText)
}

// textSize is the length of a text, or a guess for something else.
func textSize(v goja.Value) int64 {
	if s, ok := v.(goja.String); ok {
		return int64(s.Length())
	}
	return 32
}

// replacing bounds the result of a replacement by a text, in a text of that size:
// one that could get long is made piece by piece.
func (x *scriptRun) replacing(c *goja.FunctionCall, size int64) {
	by, ok := c.Argument(1).(goja.String)
	if !ok || !strings.Contains(by.String(), "$") && int64(by.Length()) <= 16*int64(x.maxText())/(size+1) {
		return // a function, whose calls can be interrupted, or little
	}
	left := int64(x.maxText())
	c.Arguments = slices.Clone(c.Arguments)
	c.Arguments[1] = x.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		x.alive()
		v := mend.Substitute(by, c.Arguments, left, func() { x.fail(evaluation.ErrMemory) })
		left -= int64(v.Length())
		return v
	})
}

var listFunctions = strings.Fields(`
	copyWithin every fill filter find findIndex findLast findLastIndex flatMap forEach includes indexOf lastIndexOf map
	push reduce reduceRight reverse shift slice some splice unshift with toReversed toSpliced sort toSorted concat flat`)

// hardenLists bounds what walks or makes long lists. Lists become texts without
// being asked to, so that is always bounded.
func (x *scriptRun) hardenLists(want func(string) bool) {
	proto := x.proto("Array")
	joining := false // the builtin calls itself for lists within lists
	for _, n := range []string{"join", "toString", "toLocaleString"} {
		x.wrapJoin(proto, n, &joining)
	}
	this := func(c *goja.FunctionCall) int64 {
		if o, ok := c.This.(*goja.Object); ok {
			return x.lengthOf(o)
		}
		return 0
	}
	sorts := func(c *goja.FunctionCall) {
		x.atMost(this(c), maxSorted)
		if goja.IsUndefined(c.Argument(0)) {
			c.Arguments = []goja.Value{x.vm.ToValue(x.byText)}
		}
	}
	seeks := func(c *goja.FunctionCall) {
		n := this(c)
		x.atMost(n, maxItems)
		if n*textSize(c.Argument(0)) > maxCompared {
			x.fail(fmt.Errorf("a text of %d characters is looked for in a list of %d elements: %w", textSize(c.Argument(0)), n, evaluation.ErrTime))
		}
	}
	pre := map[string]before{
		"sort": sorts, "toSorted": sorts, "includes": seeks, "indexOf": seeks, "lastIndexOf": seeks,
		"concat": func(c *goja.FunctionCall) {
			n := this(c)
			for _, a := range c.Arguments {
				if o, ok := a.(*goja.Object); ok {
					n += x.lengthOf(o)
				}
				x.atMost(n, maxItems)
			}
		},
		"flat": func(c *goja.FunctionCall) {
			if o, ok := c.This.(*goja.Object); ok {
				levels := int64(1)
				if v := c.Argument(0); !goja.IsUndefined(v) {
					levels = v.ToInteger()
				}
				m := measure{x: x, items: maxItems, text: 1 << 40}
				c.This = x.vm.NewArray(m.flat(nil, o, levels, 0)...)
				c.Arguments = []goja.Value{x.vm.ToValue(0)} // no more levels
			}
		},
	}
	walks := func(c *goja.FunctionCall) { x.atMost(this(c), maxItems) }
	for _, n := range wanted(want, listFunctions) {
		if pre[n] == nil {
			pre[n] = walks
		}
		x.wrap(proto, n, pre[n], nil)
	}
	if want("from") {
		x.wrap(x.global("Array"), "from", func(c *goja.FunctionCall) {
			switch v := c.Argument(0).(type) {
			case goja.String:
				x.atMost(int64(v.Length()), maxItems)
			case *goja.Object:
				x.atMost(x.lengthOf(v), maxItems)
			}
		}, nil)
	}
	// Made of a list, each takes all of it in one step, unless adding is not its own.
	for of, add := range map[string]string{"Set": "add", "Map": "set"} {
		if want(of) {
			x.wrap(x.proto(of), add, nil, nil)
		}
	}
}

// byText compares as sort does that is not told how. The builtin would do so
// without looking at the time, and long texts that begin alike take long.
func (x *scriptRun) byText(c goja.FunctionCall) goja.Value {
	x.alive()
	return x.vm.ToValue(x.textOf(c.Argument(0)).CompareTo(x.textOf(c.Argument(1))))
}

func (x *scriptRun) textOf(v goja.Value) goja.String {
	s, ok := v.(goja.String)
	if !ok {
		s, _ = x.vm.ToValue(v.String()).(goja.String)
	}
	return s
}

func (x *scriptRun) wrapJoin(proto *goja.Object, name string, joining *bool) {
	builtin, ok := goja.AssertFunction(proto.Get(name))
	if !ok {
		return
	}
	f := mend.Like(x.vm, proto.Get(name), func(c goja.FunctionCall) goja.Value {
		x.alive()
		o, ok := c.This.(*goja.Object)
		if outermost := !*joining; outermost && ok {
			*joining = true
			defer func() { *joining = false }()
			glue := int64(1)
			if name == "join" && !goja.IsUndefined(c.Argument(0)) {
				glue = textSize(c.Argument(0))
			}
			m := measure{x: x, items: maxItems, text: int64(x.maxText())}
			m.list(o, glue, 0)
		}
		v, err := builtin(c.This, c.Arguments...)
		if err != nil {
			panic(err)
		}
		x.checkText(v)
		return v
	})
	_ = proto.DefineDataProperty(name, f, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// measure walks a value before a builtin does, counting what is shared as often
// as it is met.
type measure struct {
	x           *scriptRun
	items, text int64 // left
}

func (m *measure) spend(items, text int64, depth int) {
	if depth > maxNesting {
		m.x.fail(evaluation.ErrDepth)
	}
	if m.items, m.text = m.items-items, m.text-text; m.items < 0 || m.text < 0 {
		m.x.fail(evaluation.ErrMemory)
	}
}

func (m *measure) list(o *goja.Object, glue int64, depth int) {
	n := m.x.lengthOf(o)
	m.spend(n+1, n*glue, depth)
	for i := range n {
		switch v := o.Get(strconv.FormatInt(i, 10)).(type) {
		case nil:
		case goja.String:
			m.spend(0, int64(v.Length()), depth)
		case *goja.Object:
			if v.ClassName() == "Array" {
				m.list(v, 1, depth+1)
			}
		default:
			m.spend(0, 4, depth)
		}
	}
}

// flat adds the elements of o to out, and those of the lists in it that are
// that many levels deep.
func (m *measure) flat(out []any, o *goja.Object, levels int64, depth int) []any {
	n := m.x.lengthOf(o)
	m.spend(n+1, 0, depth)
	for i := range n {
		v := o.Get(strconv.FormatInt(i, 10))
		if v == nil {
			continue // a hole
		}
		if list, ok := v.(*goja.Object); ok && levels > 0 && list.ClassName() == "Array" {
			out = m.flat(out, list, levels-1, depth+1)
			continue
		}
		out = append(out, v)
	}
	return out
}

// hardenJSON bounds nesting and size both ways.
func (x *scriptRun) hardenJSON() {
	json := x.global("JSON")
	x.wrap(json, "stringify", func(c *goja.FunctionCall) {
		w := &jsonWriter{measure: measure{x: x, items: maxItems, text: int64(x.maxText())}}
		switch space := c.Argument(2).(type) {
		case goja.String:
			w.gap = min(int64(space.Length()), 10)
		case *goja.Object:
			w.gap = 10
		default:
			w.gap = min(max(space.ToInteger(), 0), 10)
		}
		if o, ok := c.Argument(1).(*goja.Object); ok {
			if w.replacer, ok = goja.AssertFunction(o); !ok && o.ClassName() == "Array" {
				w.only = w.names(o)
			}
		}
		c.Arguments = []goja.Value{c.Argument(0), x.vm.ToValue(w.replace), c.Argument(2)}
	}, x.checkText)
	if parse, ok := goja.AssertFunction(json.Get("parse")); ok {
		_ = json.DefineDataProperty("parse", mend.Like(x.vm, json.Get("parse"), mend.Parsing(x.vm, parse)), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	x.wrap(json, "parse", func(c *goja.FunctionCall) {
		x.coerceArg(c, 0)
		s := c.Argument(0).String()
		x.atMost(int64(len(s)), 4*int64(x.maxText()))
		if nesting(s) > maxNesting {
			x.fail(evaluation.ErrDepth)
		}
	}, nil)
}

// jsonWriter counts what JSON.stringify writes. What that will be is not known
// before: getters and toJSON give what they like each time. So it stands where
// a replacer does, which sees every value last.
type jsonWriter struct {
	measure
	gap      int64          // of indentation per level
	replacer goja.Callable  // the script's, or nil
	only     []string       // the names that are written; nil for all
	path     []*goja.Object // that the builtin is within
}

// names reads a list of the properties that are to be written.
func (w *jsonWriter) names(list *goja.Object) []string {
	n := w.x.lengthOf(list)
	w.spend(n, 0, 0)
	names := make([]string, 0, n)
	for i := range n {
		switch v := list.Get(strconv.FormatInt(i, 10)).(type) {
		case nil:
		case goja.String:
			names = append(names, v.String())
		case *goja.Object:
			if c := v.ClassName(); c == "String" || c == "Number" {
				names = append(names, v.String())
			}
		default:
			if goja.IsNumber(v) {
				names = append(names, v.String())
			}
		}
	}
	return names
}

func (w *jsonWriter) replace(c goja.FunctionCall) goja.Value {
	w.x.alive()
	v := c.Argument(1)
	if w.replacer != nil {
		var err error
		if v, err = w.replacer(c.This, c.Arguments...); err != nil {
			panic(err)
		}
	}
	w.count(c, v)
	o, ok := v.(*goja.Object)
	if !ok {
		return v
	}
	switch o.ClassName() {
	case "String": // once more it may be another text
		v = o.ToString()
		w.spend(0, textSize(v), 0)
		return v
	case "RawJSON":
		w.spend(0, textSize(o.Get("rawJSON")), 0)
		return v
	case "Array", "Number", "Boolean":
		return v
	}
	if _, calls := goja.AssertFunction(o); calls || w.only == nil {
		return v
	}
	w.spend(int64(len(w.only)), 0, 0)
	picked := w.x.vm.NewObject()
	for _, k := range w.only {
		if e := o.Get(k); e != nil {
			_ = picked.DefineDataProperty(k, e, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		}
	}
	return picked
}

// count takes a member of the holder c.This.
func (w *jsonWriter) count(c goja.FunctionCall, v goja.Value) {
	depth := w.depth(c.This)
	size := int64(4)
	if o, ok := c.This.(*goja.Object); ok && o.ClassName() != "Array" {
		size += textSize(c.Argument(0))
	}
	if s, ok := v.(goja.String); ok {
		size += int64(s.Length())
	}
	w.spend(1, size+w.gap*int64(depth), depth)
}

// depth is how deep within the value the members of holder are.
func (w *jsonWriter) depth(holder goja.Value) int {
	o, _ := holder.(*goja.Object)
	for i := len(w.path) - 1; i >= 0; i-- {
		if w.path[i] == o {
			w.path = w.path[:i+1]
			return i
		}
	}
	w.path = append(w.path, o)
	return len(w.path) - 1
}

// nesting is the depth of brackets in a JSON text; those in strings count too
// while they are open.
func nesting(s string) int {
	depth, deepest := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth--
		}
	}
	return deepest
}
