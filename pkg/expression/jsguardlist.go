package expression

import (
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// hardenText bounds what makes long texts.
func (x *scriptRun) hardenText(want func(string) bool) {
	names := wanted(want, []string{"padStart", "padEnd", "repeat", "concat", "replace", "replaceAll",
		"toUpperCase", "toLowerCase", "toLocaleUpperCase", "toLocaleLowerCase", "normalize"})
	if len(names) == 0 {
		return
	}
	most := int64(x.maxText())
	size := func(c goja.FunctionCall) int64 { return int64(len(c.This.String())) }
	pad := func(c goja.FunctionCall) { x.atMost(c.Argument(0).ToInteger(), most) }
	pre := map[string]before{
		"padStart": pad, "padEnd": pad, "replace": x.replacing, "replaceAll": x.replacing,
		"repeat": func(c goja.FunctionCall) {
			if n := c.Argument(0).ToInteger(); n > 0 {
				x.atMost(size(c), most/n)
			}
		},
		"concat": func(c goja.FunctionCall) {
			n := size(c)
			for _, a := range c.Arguments {
				n += textSize(a)
				x.atMost(n, most)
			}
		},
	}
	proto := x.proto("String")
	for _, n := range names {
		x.wrap(proto, n, pre[n], x.checkText)
	}
}

// hardenRaw bounds String.raw, which walks a list that need not be a template's.
func (x *scriptRun) hardenRaw() {
	x.wrap(x.global("String"), "raw", func(c goja.FunctionCall) {
		m := measure{x: x, items: maxItems, text: int64(x.maxText())}
		if o, ok := c.Argument(0).(*goja.Object); ok {
			if raw, ok := o.Get("raw").(*goja.Object); ok {
				m.list(raw, 0, 0)
			}
		}
		for _, a := range c.Arguments {
			m.take(1, textSize(a), 0)
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

// replacing bounds the result of a replacement by a text from above. $& and
// groups take from what was matched, once around; $` and $' do so for each hit.
func (x *scriptRun) replacing(c goja.FunctionCall) {
	with, ok := c.Argument(1).(goja.String)
	if !ok {
		return // a function, whose calls can be interrupted
	}
	text, by := c.This.String(), with.String()
	size, hits := int64(len(text)), int64(len(text))+1
	if s, ok := c.Argument(0).(goja.String); ok {
		hits = int64(strings.Count(text, s.String()))
	}
	around := int64(strings.Count(by, "$`") + strings.Count(by, "$'"))
	once := int64(strings.Count(by, "$")) - around
	perHit := int64(len(by)) + around*size
	most := 16 * int64(x.maxText()) // the bound is a rough one; checkText has the last word
	if perHit > 0 && hits > most/perHit || once*size > most {
		x.fail(ErrMemory)
	}
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
	this := func(c goja.FunctionCall) int64 {
		if o, ok := c.This.(*goja.Object); ok {
			return lengthOf(o)
		}
		return 0
	}
	sorts := func(c goja.FunctionCall) { x.atMost(this(c), maxSorted) }
	pre := map[string]before{
		"sort": sorts, "toSorted": sorts,
		"concat": func(c goja.FunctionCall) {
			n := this(c)
			for _, a := range c.Arguments {
				if o, ok := a.(*goja.Object); ok {
					n += lengthOf(o)
				}
				x.atMost(n, maxItems)
			}
		},
		"flat": func(c goja.FunctionCall) {
			if o, ok := c.This.(*goja.Object); ok {
				m := measure{x: x, items: maxItems, text: 1 << 40}
				m.list(o, 0, 0)
			}
		},
	}
	walks := func(c goja.FunctionCall) { x.atMost(this(c), maxItems) }
	for _, n := range wanted(want, listFunctions) {
		if pre[n] == nil {
			pre[n] = walks
		}
		x.wrap(proto, n, pre[n], nil)
	}
	if want("from") {
		x.wrap(x.global("Array"), "from", func(c goja.FunctionCall) {
			switch v := c.Argument(0).(type) {
			case goja.String:
				x.atMost(int64(v.Length()), maxItems)
			case *goja.Object:
				x.atMost(lengthOf(v), maxItems)
			}
		}, nil)
	}
}

func (x *scriptRun) wrapJoin(proto *goja.Object, name string, joining *bool) {
	builtin, ok := goja.AssertFunction(proto.Get(name))
	if !ok {
		return
	}
	f := x.vm.ToValue(func(c goja.FunctionCall) goja.Value {
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

func (m *measure) take(items, text int64, depth int) {
	if depth > maxNesting {
		m.x.fail(ErrDepth)
	}
	if m.items, m.text = m.items-items, m.text-text; m.items < 0 || m.text < 0 {
		m.x.fail(ErrMemory)
	}
}

func (m *measure) list(o *goja.Object, glue int64, depth int) {
	n := lengthOf(o)
	m.take(n+1, n*glue, depth)
	for i := range n {
		switch v := o.Get(strconv.FormatInt(i, 10)).(type) {
		case nil:
		case goja.String:
			m.take(0, int64(v.Length()), depth)
		case *goja.Object:
			if v.ClassName() == "Array" {
				m.list(v, 1, depth+1)
			}
		default:
			m.take(0, 4, depth)
		}
	}
}

// tree measures what JSON.stringify is about to walk.
func (m *measure) tree(v goja.Value, depth int) {
	switch v := v.(type) {
	case nil:
	case goja.String:
		m.take(1, int64(v.Length())+2, depth)
	case *goja.Object:
		if v.ClassName() == "Array" {
			n := lengthOf(v)
			m.take(n+1, n+2, depth)
			for i := range n {
				m.tree(v.Get(strconv.FormatInt(i, 10)), depth+1)
			}
			return
		}
		if _, ok := goja.AssertFunction(v); ok {
			return
		}
		for _, k := range v.Keys() {
			m.take(1, int64(len(k))+4, depth)
			m.tree(v.Get(k), depth+1)
		}
	default:
		m.take(1, 4, depth)
	}
}

// hardenJSON bounds nesting and size both ways.
func (x *scriptRun) hardenJSON() {
	json := x.global("JSON")
	x.wrap(json, "stringify", func(c goja.FunctionCall) {
		m := measure{x: x, items: maxItems, text: int64(x.maxText())}
		m.tree(c.Argument(0), 0)
	}, x.checkText)
	x.wrap(json, "parse", func(c goja.FunctionCall) {
		s := c.Argument(0).String()
		x.atMost(int64(len(s)), 4*int64(x.maxText()))
		if nesting(s) > maxNesting {
			x.fail(ErrDepth)
		}
	}, nil)
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
