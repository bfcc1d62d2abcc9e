package mend

import "github.com/dop251/goja"

// substitution is what the language calls GetSubstitution: a text with its $1 and
// the like filled in, for one match.
type substitution struct {
	long   func() // fails
	by     goja.String
	found  []goja.Value // the match, and its groups
	groups *goja.Object // those that have names; nil if there are none
	text   goja.String  // that is searched
	at     int          // in it, the match
	left   int64        // how long the result may be
	out    goja.StringBuilder
}

// Substitute fills in by for the arguments that a replacing function gets. It calls long where the result gets longer than left.
func Substitute(by goja.String, args []goja.Value, left int64, long func()) goja.String {
	s := &substitution{long: long, by: by, left: left}
	if groups, named := args[len(args)-1].(*goja.Object); named {
		s.groups, args = groups, args[:len(args)-1]
	}
	n := len(args) - 2
	s.found, s.at = args[:n], int(args[n].ToInteger())
	s.text, _ = args[n+1].(goja.String)
	for i := 0; i < by.Length(); {
		from := i
		for i < by.Length() && by.CharAt(i) != '$' {
			i++
		}
		if i > from {
			s.write(by.Substring(from, i))
			continue
		}
		i += s.reference(i)
	}
	return s.out.String()
}

// reference writes what is meant by the $ at i, and gives the length of what says so.
func (s *substitution) reference(i int) int {
	switch s.char(i + 1) {
	case '$':
		s.write(s.by.Substring(i, i+1))
	case '&':
		s.write(s.found[0])
	case '`':
		s.write(s.text.Substring(0, s.at))
	case '\'':
		s.write(s.text.Substring(min(s.at+length(s.found[0]), s.text.Length()), s.text.Length()))
	case '<':
		return s.named(i)
	default:
		return s.numbered(i)
	}
	return 2
}

func (s *substitution) named(i int) int {
	end := i + 2
	for end < s.by.Length() && s.by.CharAt(end) != '>' {
		end++
	}
	if s.groups == nil || end == s.by.Length() {
		s.write(s.by.Substring(i, i+2))
		return 2
	}
	s.write(s.groups.Get(s.by.Substring(i+2, end).String()))
	return end + 1 - i
}

// numbered takes two digits, if there is such a group, or else one.
func (s *substitution) numbered(i int) int {
	one, ok := s.digit(i + 1)
	two, both := s.digit(i + 2)
	n := len(s.found)
	switch {
	case ok && both && one*10+two > 0 && one*10+two < n:
		s.write(s.found[one*10+two])
		return 3
	case ok && one > 0 && one < n:
		s.write(s.found[one])
		return 2
	}
	s.write(s.by.Substring(i, i+1))
	return 1
}

func (s *substitution) digit(i int) (int, bool) {
	c := s.char(i)
	return int(c) - '0', c >= '0' && c <= '9'
}

// char is 0 behind the end.
func (s *substitution) char(i int) uint16 {
	if i < s.by.Length() {
		return s.by.CharAt(i)
	}
	return 0
}

func (s *substitution) write(v goja.Value) {
	if v == nil || goja.IsUndefined(v) {
		return
	}
	text, ok := v.(goja.String)
	if !ok { // a group of a script's own making
		text, _ = v.ToString().(goja.String)
	}
	if s.left -= int64(text.Length()); s.left < 0 {
		s.long()
	}
	s.out.WriteString(text)
}

// length is how long what was found is.
func length(v goja.Value) int {
	if s, ok := v.(goja.String); ok {
		return s.Length()
	}
	return 0
}
