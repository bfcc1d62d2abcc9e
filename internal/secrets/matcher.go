package secrets

import (
	"slices"
	"strings"
)

// matcher finds any of many texts. Almost all of what it looks at holds none, so
// it is made for saying no: four bytes at each place are looked up in a filter of
// bits, and only where that says maybe in a table. (Rabin and Karp's idea, with the
// first four bytes as the hash.)
type matcher struct {
	filter [1 << 10]uint64
	table  map[uint32][]pattern // by the first four bytes, longest first
}

// pattern is one text, and the secret that it means.
type pattern struct{ text, name string }

// headLength is how many bytes of a pattern are looked up; none is shorter.
const headLength = 4

func head(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func bit(h uint32) (word, mask uint64) {
	h = h * 2654435761 >> 16
	return uint64(h >> 6), 1 << (h & 63)
}

// add adds a pattern; one that is there already gets this name.
func (m *matcher) add(text, name string) {
	if len(text) < headLength {
		return
	}
	if m.table == nil {
		m.table = map[uint32][]pattern{}
	}
	h := head(text)
	i := slices.IndexFunc(m.table[h], func(p pattern) bool { return p.text == text })
	if i >= 0 {
		m.table[h][i] = pattern{text, name}
		return
	}
	m.table[h] = append(m.table[h], pattern{text, name})
	word, mask := bit(h)
	m.filter[word] |= mask
}

func (m *matcher) finish() {
	for _, ps := range m.table {
		slices.SortFunc(ps, func(a, b pattern) int {
			if len(a.text) != len(b.text) {
				return len(b.text) - len(a.text)
			}
			return strings.Compare(a.text, b.text)
		})
	}
}

// find gives the first match from a place on; nil if there is none.
func (m *matcher) find(s string, from int) (at, end int, found *pattern) {
	if len(s)-from < headLength {
		return 0, 0, nil
	}
	h := head(s[from:])
	for i := from; ; i++ {
		if word, mask := bit(h); m.filter[word]&mask != 0 {
			ps := m.table[h]
			for j := range ps {
				if strings.HasPrefix(s[i:], ps[j].text) {
					return i, i + len(ps[j].text), &ps[j]
				}
			}
		}
		if i+headLength >= len(s) {
			return 0, 0, nil
		}
		h = h>>8 | uint32(s[i+headLength])<<24
	}
}

// replace gives text with every match in plain replaced by its mark. plain is text
// itself, or what is left of it by [unescape], with the places that its bytes have
// in text.
func (m *matcher) replace(text, plain string, places []int) string {
	at, end, p := m.find(plain, 0)
	if p == nil {
		return text
	}
	place := func(i int) int {
		if places == nil {
			return i
		}
		return places[i]
	}
	var b strings.Builder
	from := 0
	for ; p != nil; at, end, p = m.find(plain, from) {
		b.WriteString(text[place(from):place(at)])
		b.WriteString(markOf(p.name))
		from = end
	}
	b.WriteString(text[place(from):])
	return b.String()
}

// behind finds the first match that begins within what looks like a percent escape:
// in %10secret1 the value 0secret1 stands behind %1. at and end are places in text.
func (m *matcher) behind(text, plain string, places []int) (at, end int, found *pattern) {
	for k := range len(plain) {
		e := places[k]
		if places[k+1]-e != 3 {
			continue
		}
		for lead := text[e+1 : e+3]; lead != ""; lead = lead[1:] {
			if p := m.anchored(lead, plain[k+1:]); p != nil {
				return e + 3 - len(lead), places[k+1+len(p.text)-len(lead)], p
			}
		}
	}
	return 0, 0, nil
}

// anchored gives the pattern that lead and rest begin with, if there is one. lead is
// shorter than any pattern.
func (m *matcher) anchored(lead, rest string) *pattern {
	missing := headLength - len(lead)
	if len(rest) < missing {
		return nil
	}
	h := head(lead + rest[:missing])
	if word, mask := bit(h); m.filter[word]&mask == 0 {
		return nil
	}
	ps := m.table[h]
	for i := range ps {
		if strings.HasPrefix(rest, ps[i].text[len(lead):]) {
			return &ps[i]
		}
	}
	return nil
}

// unescape takes the percent escapes out of a text, and says where in it each byte
// was, the end included. It is "" if there are none. Programs that escape for a
// URL escape more or less than each other; without escapes all texts are one.
func unescape(text string) (plain string, places []int) {
	first := strings.IndexByte(text, '%')
	if first < 0 {
		return "", nil
	}
	out := make([]byte, 0, len(text))
	places = make([]int, 0, len(text)+1)
	found := false
	for i := 0; i < len(text); {
		c, size := text[i], 1
		if c == '%' && i+2 < len(text) {
			hi, lo := nibble(text[i+1]), nibble(text[i+2])
			if hi >= 0 && lo >= 0 {
				c, size, found = byte(hi<<4|lo), 3, true
			}
		}
		out, places = append(out, c), append(places, i)
		i += size
	}
	if !found {
		return "", nil
	}
	return string(out), append(places, len(text))
}

func nibble(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
