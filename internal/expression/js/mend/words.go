package mend

import (
	"regexp"
	"strings"

	"github.com/dop251/goja"
)

// ofGo are messages of the machine that are in the words of Go or of a library, and what Node says.
var ofGo = []struct {
	is *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`(?s)Could not convert .* to primitive$`), "Cannot convert object to primitive value"},
	{regexp.MustCompile(`(?s)^(?:SyntaxError: )?Invalid regular expression \(regexp2\): (.*) \(Invalid regular expression \(regexp2\): .*\(error parsing regexp: (.*)\)\)`), "Invalid regular expression: /$1/: $2"},
	{regexp.MustCompile(` ?%!s\(MISSING\)`), ""},
	{regexp.MustCompile(`(?s)%!s\(PANIC=.*\)`), "an object"},
	{regexp.MustCompile(`^GoError: `), ""},
}

// Words is a message of the machine in the words of JavaScript.
func Words(message string) string {
	if !strings.Contains(message, "%!s(") && !strings.Contains(message, "Could not convert") && !strings.Contains(message, "regexp") && !strings.HasPrefix(message, "GoError") {
		return message
	}
	for _, w := range ofGo {
		message = w.is.ReplaceAllString(message, w.by)
	}
	return message
}

// Caught puts right what an error says that a script has caught.
func Caught(vm *goja.Runtime, v goja.Value) {
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Error" {
		return
	}
	put := func(name, text string) {
		_ = o.DefineDataProperty(name, vm.ToValue(text), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	if name, ok := o.Get("name").(goja.String); ok && name.String() == "GoError" {
		put("name", "Error")
	}
	for _, name := range []string{"message", "stack"} {
		if text, ok := o.Get(name).(goja.String); ok {
			if said := text.String(); Words(said) != said {
				first, rest := said, ""
				if i := strings.Index(said, "\n\tat "); i >= 0 {
					first, rest = said[:i], said[i:]
				}
				put(name, Words(first)+rest)
			}
		}
	}
}
