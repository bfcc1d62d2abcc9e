package suggest

import (
	"slices"
	"strings"
)

// cell is a dash or a key of a line.
type cell struct {
	line, column int    // from 0; the column in bytes
	key          string // "": a dash
	value        string // what stands behind the key on its line
}

func (c *cell) dash() bool { return c.key == "" }

// text tells whether what is below the key is a text of several lines.
func (c *cell) text() bool { return strings.HasPrefix(c.value, "|") || strings.HasPrefix(c.value, ">") }

// cellsOf reads the dashes and the key that a line begins with.
func cellsOf(line int, s string) []cell {
	var cells []cell
	at := len(s) - len(strings.TrimLeft(s, " "))
	for strings.HasPrefix(s[at:], "- ") || s[at:] == "-" {
		cells = append(cells, cell{line: line, column: at})
		at++
		at += len(s[at:]) - len(strings.TrimLeft(s[at:], " "))
	}
	if key, value, ok := keyOf(s[at:]); ok {
		cells = append(cells, cell{line: line, column: at, key: key, value: value})
	}
	return cells
}

// keyOf reads key: value.
func keyOf(s string) (key, value string, ok bool) {
	if s == "" || s[0] == '#' {
		return "", "", false
	}
	end := strings.Index(s, ": ")
	if end < 0 {
		if !strings.HasSuffix(s, ":") {
			return "", "", false
		}
		end = len(s) - 1
	}
	key = strings.Trim(s[:end], `"'`)
	if key == "" || strings.ContainsAny(key, "{[,") {
		return "", "", false
	}
	value = strings.TrimSpace(s[end+1:])
	if i := strings.Index(value, " #"); i >= 0 {
		value = strings.TrimSpace(value[:i])
	}
	return key, value, true
}

// page is a text as its lines look.
type page struct {
	lines []string
	cells [][]cell
}

func read(source string) *page {
	p := &page{lines: strings.Split(strings.ReplaceAll(source, "\r\n", "\n"), "\n")}
	for i, s := range p.lines {
		p.cells = append(p.cells, cellsOf(i, s))
	}
	return p
}

// above gives what a place of a line is below, the outermost first, and the keys beside it.
// before are the cells of the line itself that stand before the place.
func (p *page) above(line, column int, before []cell) (path []cell, beside []string) {
	limit, own := column, column
	step := func(c cell) {
		last := len(path) - 1
		switch {
		case c.column < limit, last >= 0 && path[last].dash() && !c.dash() && c.column == limit && c.value == "":
			path = append(path, c)
			limit = c.column
		case c.column == own && len(path) == 0 && !c.dash():
			beside = append(beside, c.key)
		}
	}
	for i := len(before) - 1; i >= 0; i-- {
		step(before[i])
	}
	for l := line - 1; l >= 0; l-- {
		for i := len(p.cells[l]) - 1; i >= 0; i-- {
			step(p.cells[l][i])
		}
	}
	beside = append(beside, p.after(line, own)...)
	slices.Reverse(path)
	return path, beside
}

// after gives the keys of a column that come behind a line, in the same mapping.
func (p *page) after(line, column int) (keys []string) {
	for l := line + 1; l < len(p.lines); l++ {
		if strings.TrimSpace(p.lines[l]) == "" {
			continue
		}
		if indent(p.lines[l]) < column {
			break
		}
		for _, c := range p.cells[l] {
			if c.column == column && !c.dash() {
				keys = append(keys, c.key)
			}
		}
	}
	return keys
}

func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

// below gives the keys one step below a cell.
func (p *page) below(at cell) []cell {
	var found []cell
	column := -1
	for l := at.line + 1; l < len(p.lines); l++ {
		if strings.TrimSpace(p.lines[l]) == "" {
			continue
		}
		if indent(p.lines[l]) <= at.column {
			break
		}
		for _, c := range p.cells[l] {
			if c.dash() {
				continue
			}
			if column < 0 {
				column = c.column
			}
			if c.column == column {
				found = append(found, c)
			}
		}
	}
	return found
}

// declared gives the names of what is declared below every key of this name, such as inputs.
func (p *page) declared(what string) []string {
	var names []string
	for _, cells := range p.cells {
		for _, c := range cells {
			if c.key != what || what == "inputs" && c.column > 0 {
				continue
			}
			for _, d := range p.below(c) {
				names = append(names, d.key)
			}
		}
	}
	return names
}

// inline is a place within {a: 1, b: …}.
type inline struct {
	open   []string // the keys that it is below, but the outermost
	beside []string
	key    string // whose value is written there; "": a key is
	rest   string // what of it is written
}

// flow goes into a mapping in one line as far as it is written; false: it is closed, or none.
func flow(s string) (at inline, ok bool) {
	type level struct {
		key    string
		beside []string
	}
	var levels []level
	start, key := 0, ""
	for i := range len(s) {
		switch s[i] {
		case '{':
			levels = append(levels, level{key: key})
		case '}':
			if len(levels) == 0 {
				return at, false
			}
			levels = levels[:len(levels)-1]
		case ',':
		case ':':
			n := len(levels)
			if n == 0 || key != "" {
				continue
			}
			key = strings.TrimSpace(s[start:i])
			levels[n-1].beside = append(levels[n-1].beside, key)
			start = i + 1
			continue
		default:
			continue
		}
		start, key = i+1, ""
	}
	if len(levels) == 0 {
		return at, false
	}
	for _, l := range levels[1:] {
		at.open = append(at.open, l.key)
	}
	at.beside, at.key, at.rest = levels[len(levels)-1].beside, key, s[start:]
	return at, true
}
