package mend

import (
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/weft-run/weft/internal/expression/js/pattern"
)

var patternGetters = goja.MustCompile("", `['source', 'flags'].map(n => Object.getOwnPropertyDescriptor(RegExp.prototype, n).get)`, false)

// Patterns has for regular expressions of a machine those that match as Node's do.
type Patterns struct {
	vm            *goja.Runtime
	source, flags goja.Callable
	make          *goja.Object // the builtin RegExp
	read          map[string]*pattern.Pattern
	twins         map[string]*goja.Object
	text          string // that was looked at last
	lines, odd    bool   // of text
}

// NewPatterns takes the machine's builtins as they are.
func NewPatterns(vm *goja.Runtime, builtin *goja.Object) *Patterns {
	v, err := vm.RunProgram(patternGetters)
	if err != nil {
		panic(err)
	}
	p := &Patterns{vm: vm, make: builtin, read: map[string]*pattern.Pattern{}, twins: map[string]*goja.Object{}}
	p.source, _ = goja.AssertFunction(v.ToObject(vm).Get("0"))
	p.flags, _ = goja.AssertFunction(v.ToObject(vm).Get("1"))
	return p
}

// Source is how a regular expression is written; false if it is none.
func (p *Patterns) Source(of goja.Value) (string, bool) {
	v, err := p.source(of)
	if err != nil {
		return "", false
	}
	return v.String(), true
}

// Run lets exec or test of a regular expression, which is this of the call, see the text by the one that matches as Node's does.
func (p *Patterns) Run(c goja.FunctionCall, source, text string, builtin goja.Callable) (goja.Value, error) {
	of, ok := c.This.(*goja.Object)
	if !ok {
		return builtin(c.This, c.Arguments...)
	}
	twin := p.twin(of, source, text)
	if twin == nil {
		return builtin(of, c.Arguments...)
	}
	if err := twin.Set("lastIndex", of.Get("lastIndex")); err != nil {
		return nil, err
	}
	v, err := builtin(twin, c.Arguments...)
	if err == nil && (twin.Get("global").ToBoolean() || twin.Get("sticky").ToBoolean()) {
		err = of.Set("lastIndex", twin.Get("lastIndex"))
	}
	return v, err
}

// twin is what matches the text as Node does; nil if the regular expression does so itself.
func (p *Patterns) twin(of *goja.Object, source, text string) *goja.Object {
	v, err := p.flags(of)
	if err != nil {
		return nil
	}
	flags := v.String()
	key := flags + "/" + source
	read := p.read[key]
	if read == nil {
		read, _ = pattern.Read(source, flags) // what is refused was, where it matters
		p.read[key] = read
	}
	if !read.Lines && !read.Folds && !read.Always() {
		return nil
	}
	p.look(text)
	second := read.Beyond || read.Lines && p.lines
	letters := read.Folds && (p.odd || !ascii(source))
	written := read.Written(second, second && read.Lines, letters)
	if written == source && !letters {
		return nil
	}
	if letters {
		flags = strings.ReplaceAll(flags, "i", "")
	}
	key = flags + "/" + written
	if p.twins[key] == nil {
		twin, err := p.vm.New(p.make, p.vm.ToValue(written), p.vm.ToValue(flags))
		if err != nil {
			return nil // the machine does not know it, and says so of the original
		}
		p.twins[key] = twin
	}
	return p.twins[key]
}

func (p *Patterns) look(text string) {
	if text != p.text {
		p.text, p.lines, p.odd = text, strings.ContainsAny(text, "\r\u2028\u2029"), pattern.Odd(text)
	}
}

// ascii reports whether a pattern has only letters of ASCII, also by their codes.
func ascii(source string) bool {
	for i := range len(source) {
		if source[i] >= utf8.RuneSelf || source[i] == '\\' && i+1 < len(source) && (source[i+1] == 'u' || source[i+1] == 'x') {
			return false
		}
	}
	return true
}

// CheckPattern fails for a regular expression whose groups would be others than in Node.
func CheckPattern(vm *goja.Runtime, c goja.ConstructorCall) {
	if written, ok := c.Argument(0).(goja.String); ok {
		if _, err := pattern.Read(written.String(), ""); err != nil {
			panic(vm.NewTypeError("%s", err.Error()))
		}
	}
}
