package pattern

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// same are letters that the flag i without u makes the same as another one, by their capitals; odd are those of which the machine's
// libraries say otherwise, without those of ASCII: there it is only K and S, with a letter beyond.
var same = sync.OnceValue(func() (out struct {
	letters map[rune][]rune
	odd     map[rune]bool
	sorted  []rune
}) {
	capitals := map[rune][]rune{}
	upper := cases.Upper(language.Und)
	var all []rune
	for r := rune(0); r <= 0xffff; r++ {
		if unicode.SimpleFold(r) == r {
			continue
		}
		all = append(all, r)
		capital := r
		if u := []rune(upper.String(string(r))); len(u) == 1 && (r < 0x80 || u[0] >= 0x80) {
			capital = u[0]
		}
		capitals[capital] = append(capitals[capital], r)
	}
	out.letters, out.odd, out.sorted = map[rune][]rune{}, map[rune]bool{}, all
	for _, letters := range capitals {
		for _, r := range letters {
			out.letters[r] = letters
		}
	}
	for _, r := range all {
		orbit := []rune{r}
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			orbit = append(orbit, f)
		}
		slices.Sort(orbit)
		if r >= 0x80 && !slices.Equal(orbit, out.letters[r]) {
			out.odd[r] = true
		}
	}
	return out
})

// Odd reports whether a text has letters of which the machine's libraries say otherwise which others they are the same as.
func Odd(text string) bool {
	for _, r := range text {
		if r >= utf8.RuneSelf && same().odd[r] {
			return true
		}
	}
	return false
}

// letter notes a letter that stands for others too.
func (p *Pattern) letter(from int, r rune) {
	if !p.flag("i") || p.flag("u") {
		return
	}
	p.Folds = true
	if letters := same().letters[r]; len(letters) > 1 {
		p.change(from, "["+codes(letters)+"]", folds)
	}
}

func codes(letters []rune) string {
	var b strings.Builder
	for _, r := range letters {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}

// class reads what is behind [. With the flag i, those that are the same as one of it are added.
func (p *Pattern) class(from int) {
	p.next("^")
	content := p.at
	fold := p.flag("i") && !p.flag("u")
	var more []rune
	last, ranges := rune(-1), false // before a -
	for p.more() && p.source[p.at] != ']' {
		r, n := utf8.DecodeRuneInString(p.source[p.at:])
		p.at += n
		ok := true
		switch {
		case r == '-' && last >= 0 && !ranges && p.more() && p.source[p.at] != ']':
			ranges = true
			continue
		case r == '\\' && p.more():
			e, n := utf8.DecodeRuneInString(p.source[p.at:])
			p.at += n
			r, ok = p.escaped(e)
		}
		switch {
		case !ok:
			last, ranges = -1, false
			continue
		case ranges:
			more = append(more, like(last, r, fold)...)
			last, ranges = -1, false
			continue
		}
		more = append(more, like(r, r, fold)...)
		last = r
	}
	text := p.source[content:p.at]
	head := p.source[from:content]
	p.next("]")
	if !fold {
		return
	}
	p.Folds = true
	if len(more) > 0 {
		if strings.HasSuffix(text, "-") {
			text = text[:len(text)-1] + `\-`
		}
		slices.Sort(more)
		p.change(from, head+text+codes(slices.Compact(more))+"]", folds)
	}
}

// like are the letters that are the same as one from first to last.
func like(first, last rune, fold bool) []rune {
	if !fold {
		return nil
	}
	var out []rune
	at, _ := slices.BinarySearch(same().sorted, first)
	for _, r := range same().sorted[at:] {
		if r > last {
			break
		}
		for _, other := range same().letters[r] {
			if other < first || other > last {
				out = append(out, other)
			}
		}
	}
	return out
}
