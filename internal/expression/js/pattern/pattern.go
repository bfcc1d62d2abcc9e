package pattern

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Pattern is a regular expression that was read.
type Pattern struct {
	Lines  bool // ^ and $ are at lines, and what is a line is not the same for all
	Beyond bool // it looks around or back, which only the machine's second library does
	Folds  bool // capitals are as small letters, by rules that neither library has

	source  string
	flags   string
	at      int  // what is read
	names   bool // it has names of groups, so \k refers to one
	backs   bool // it refers back
	changes []change
	refused error
}

// change is what a text of the pattern is written as, for a reason.
type change struct {
	from, to int
	by       string
	why      reason
}

type reason int

const (
	always reason = iota // a round of a loop that takes nothing does not count
	lines                // a line ends at \r, U+2028 and U+2029 too
	second               // what the second library has otherwise
	folds                // which letters are the same
)

// found is what was read: whether it may match nothing, and where its groups are; loose are those that it may match without.
type found struct {
	empty       bool
	firm, loose []int
	whole       *quantified // all of it
}

func (f *found) add(g found) {
	f.firm, f.loose = append(f.firm, g.firm...), append(f.loose, g.loose...)
}

// loosen makes all groups such that may be left out.
func (f *found) loosen() { f.firm, f.loose = nil, append(f.loose, f.firm...) }

// quantified is where a quantifier stands that takes nothing too, and what it would be if it did not.
type quantified struct {
	from, to int
	by       string
}

const (
	lineEnd = `[^\n\r\u2028\u2029]`
	word    = `[0-9A-Za-z_]`
)

// Read reads a pattern with its flags. It fails for one whose groups would be others than in Node.
func Read(source, flags string) (*Pattern, error) {
	p := &Pattern{source: source, flags: flags, names: strings.Contains(source, "(?<")}
	p.alternatives()
	if p.Folds = p.Folds && !p.backs; !p.Folds {
		p.changes = slices.DeleteFunc(p.changes, func(c change) bool { return c.why == folds })
	}
	return p, p.refused
}

func (p *Pattern) flag(f string) bool { return strings.Contains(p.flags, f) }

func (p *Pattern) more() bool { return p.at < len(p.source) }

func (p *Pattern) next(s string) bool {
	if strings.HasPrefix(p.source[p.at:], s) {
		p.at += len(s)
		return true
	}
	return false
}

func (p *Pattern) change(from int, by string, why reason) {
	p.changes = append(p.changes, change{from, p.at, by, why})
}

// alternatives reads up to the end of a group, or of all.
func (p *Pattern) alternatives() found {
	all := p.terms()
	for p.next("|") {
		one := p.terms()
		all.add(one)
		all.loosen()
		all.empty, all.whole = all.empty || one.empty, nil
	}
	return all
}

func (p *Pattern) terms() found {
	all := found{empty: true}
	for n := 0; p.more() && p.source[p.at] != '|' && p.source[p.at] != ')'; n++ {
		one := p.quantified()
		all.add(one)
		all.empty = all.empty && one.empty
		if all.whole = nil; n == 0 {
			all.whole = one.whole
		}
	}
	return all
}

// quantified reads one thing, and how often it may be.
func (p *Pattern) quantified() found {
	one := p.atom()
	from := p.at
	least, most, ok := p.quantifier()
	if !ok {
		return one
	}
	groups := len(one.firm)+len(one.loose) > 0
	switch {
	case most > 1 && len(one.loose) > 0:
		p.refuse(one.loose[0], "may be left out by a later round of the loop that it is in, and would keep here what an earlier one took, which is otherwise in JavaScript")
	case least == 0 && one.empty && groups && one.whole != nil && one.whole.by != "?":
		p.changes = append(p.changes, change{one.whole.from, one.whole.to, one.whole.by, always})
	case least == 0 && one.empty && groups:
		p.refuse(append(one.firm, one.loose...)[0], "may take nothing, and what is around it may be left out: which of the two it is, is told otherwise in JavaScript")
	}
	if least == 0 {
		one.loosen()
	}
	one.whole = nil
	if least == 0 && !one.empty {
		one.whole = &quantified{from, p.at, once(p.source[from:p.at])}
	}
	one.empty = one.empty || least == 0
	return one
}

// once is a quantifier that may be zero as one that is at least one.
func once(q string) string {
	switch q[0] {
	case '*':
		return "+" + q[1:]
	case '?':
		return ""
	}
	return "{1" + strings.TrimLeft(q[1:], "0")
}

func (p *Pattern) refuse(at int, why string) {
	if p.refused == nil {
		p.refused = errors.New("the group at character " + strconv.Itoa(utf8.RuneCountInString(p.source[:at])+1) + " of this regular expression " + why +
			": write it as (?:…) if it is not read, or without the loop")
	}
}

func (p *Pattern) quantifier() (least, most int, ok bool) {
	switch {
	case p.next("*"):
		least, most = 0, 2
	case p.next("+"):
		least, most = 1, 2
	case p.next("?"):
		least, most = 0, 1
	default:
		end := strings.IndexByte(p.source[p.at:], '}')
		if end < 0 || p.source[p.at] != '{' {
			return 0, 0, false
		}
		from, to, comma := strings.Cut(p.source[p.at+1:p.at+end], ",")
		var err error
		if least, err = strconv.Atoi(from); err != nil {
			return 0, 0, false
		}
		most = least
		if comma && to == "" {
			most = least + 2
		} else if comma {
			if most, err = strconv.Atoi(to); err != nil {
				return 0, 0, false
			}
		}
		p.at += end + 1
	}
	p.next("?")
	return least, most, true
}

// atom reads one character, class, group or condition.
func (p *Pattern) atom() found {
	from := p.at
	switch {
	case p.next("("):
		return p.group(from)
	case p.next("["):
		p.class(from)
	case p.next(`\`):
		return p.escape(from)
	case p.next("."):
		if !p.flag("s") {
			p.change(from, lineEnd, second)
		}
	case p.next("^"):
		p.line(from, `(?<!`+lineEnd+`)`)
		return found{empty: true}
	case p.next("$"):
		p.line(from, `(?!`+lineEnd+`)`)
		return found{empty: true}
	default:
		r, n := utf8.DecodeRuneInString(p.source[from:])
		p.at += n
		p.letter(from, r)
	}
	return found{}
}

func (p *Pattern) line(from int, by string) {
	if p.flag("m") {
		p.Lines = true
		p.change(from, by, lines)
	}
}

func (p *Pattern) group(from int) found {
	captures, looks := true, false
	switch {
	case p.next("?:"):
		captures = false
	case p.next("?=") || p.next("?!") || p.next("?<=") || p.next("?<!"):
		captures, looks, p.Beyond = false, true, true
	case p.next("?<"):
		if end := strings.IndexByte(p.source[p.at:], '>'); end >= 0 {
			p.at += end + 1
		}
	}
	all := p.alternatives()
	p.next(")")
	if looks {
		all.empty, all.whole = true, nil
	}
	if captures {
		all.firm = append([]int{from}, all.firm...)
	}
	return all
}

func (p *Pattern) escape(from int) found {
	if !p.more() {
		return found{}
	}
	r, n := utf8.DecodeRuneInString(p.source[p.at:])
	p.at += n
	switch {
	case r == 'b':
		p.change(from, `(?:(?<=`+word+`)(?!`+word+`)|(?<!`+word+`)(?=`+word+`))`, second)
		return found{empty: true}
	case r == 'B':
		p.change(from, `(?:(?<=`+word+`)(?=`+word+`)|(?<!`+word+`)(?!`+word+`))`, second)
		return found{empty: true}
	case r >= '1' && r <= '9', r == 'k' && p.names:
		for p.more() && p.source[p.at] >= '0' && p.source[p.at] <= '9' {
			p.at++
		}
		if r == 'k' && p.next("<") {
			p.at = min(p.at+strings.IndexByte(p.source[p.at:]+">", '>')+1, len(p.source))
		}
		p.Beyond, p.backs = true, true
		return found{empty: true}
	}
	if c, ok := p.escaped(r); ok {
		p.letter(from, c)
	}
	return found{}
}

// escaped is the character that a backslash and r mean; false if they mean many.
func (p *Pattern) escaped(r rune) (rune, bool) {
	var digits int
	switch r {
	case 'd', 'D', 's', 'S', 'w', 'W', 'p', 'P', 'c':
		return 0, false
	case 'n', 'r', 't', 'v', 'f', '0':
		return 0, true
	case 'x':
		digits = 2
	case 'u':
		if p.flag("u") && p.next("{") {
			p.at = min(p.at+strings.IndexByte(p.source[p.at:]+"}", '}')+1, len(p.source))
			return 0, true
		}
		digits = 4
	default:
		return r, true
	}
	if p.at+digits <= len(p.source) {
		if c, err := strconv.ParseUint(p.source[p.at:p.at+digits], 16, 32); err == nil {
			p.at += digits
			return rune(c), true
		}
	}
	return r, true
}

// Written is the pattern for a library: the second one or not, for texts with lines of all kinds or not, with letters of their own or
// as the flags say.
func (p *Pattern) Written(secondly, allLines, letters bool) string {
	var b strings.Builder
	at := 0
	for _, c := range p.sorted() {
		if c.from < at || c.why == lines && !allLines || c.why == second && !secondly || c.why == folds && !letters {
			continue
		}
		b.WriteString(p.source[at:c.from])
		b.WriteString(c.by)
		at = c.to
	}
	b.WriteString(p.source[at:])
	return b.String()
}

func (p *Pattern) sorted() []change {
	slices.SortStableFunc(p.changes, func(a, b change) int { return a.from - b.from })
	return p.changes
}

// Always reports whether the pattern is never right as it is written.
func (p *Pattern) Always() bool {
	return p.Beyond || slices.ContainsFunc(p.changes, func(c change) bool { return c.why == always })
}
