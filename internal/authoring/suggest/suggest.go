package suggest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/expression/native"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// Item is one thing that may stand at a place.
type Item struct {
	Label  string // as it is shown and found
	Kind   string // type, key, value, variable, function, outcome
	Detail string // in a few words; may be ""
	Doc    string // may be ""
	Insert string // what is written
}

// Answer is what may stand at a place, and what stands there.
type Answer struct {
	From  int // the column, from 1, that what is written of it begins at
	Items []Item
	Word  string // what stands there, if it is known
	Doc   string // about it
}

// Book is what a program knows of the notation. It may be used by several at once.
type Book struct {
	types  workflow.Types
	root   map[string]any
	defs   map[string]any
	common map[string]bool // keys that any activity has
}

// New makes the book of these types.
func New(types workflow.Types) (*Book, error) {
	b := &Book{types: types}
	if err := json.Unmarshal(yaml.Schema(types), &b.root); err != nil {
		return nil, fmt.Errorf("suggest: read the schema: %w", err)
	}
	b.defs, _ = b.root["$defs"].(map[string]any)
	one, _ := b.defs["one"].(map[string]any)
	only, _ := byType(one)
	for _, s := range only {
		names := map[string]bool{}
		for _, n := range enumOf(s) {
			if b.common == nil || b.common[n] {
				names[n] = true
			}
		}
		b.common = names
	}
	return b, nil
}

// enumOf is propertyNames.enum.
// byType has, of the schema of an activity, that of each type by its name. What a name needs that
// may also be a key of another type says nothing of the keys.
func byType(activity map[string]any) (types map[string]any, is bool) {
	all, is := activity["dependentSchemas"].(map[string]any)
	types = maps.Clone(all)
	maps.DeleteFunc(types, func(_ string, s any) bool { return enumOf(s) == nil })
	return types, is
}

func enumOf(s any) (names []string) {
	m, _ := s.(map[string]any)
	m, _ = m["propertyNames"].(map[string]any)
	all, _ := m["enum"].([]any)
	for _, v := range all {
		if n, ok := v.(string); ok {
			names = append(names, n)
		}
	}
	return names
}

// maxItems bounds an answer.
const maxItems = 300

// At tells what may stand at a line and column of a source, both from 1; columns count
// characters.
func (b *Book) At(source string, line, column int) Answer {
	p := read(source)
	if line < 1 || line > len(p.lines) {
		return Answer{From: column}
	}
	whole := p.lines[line-1]
	at := offset(whole, column-1)
	answer := b.at(p, line-1, whole[:at])
	answer.From = utf8.RuneCountInString(whole[:max(0, answer.From)]) + 1
	answer.Word, answer.Doc = b.about(p, line-1, whole, at)
	if len(answer.Items) > maxItems {
		answer.Items = answer.Items[:maxItems]
	}
	return answer
}

// offset of a column that counts characters.
func offset(s string, column int) int {
	for i := range s {
		if column == 0 {
			return i
		}
		column--
	}
	return len(s)
}

// at gives the items for a line that is written so far; From counts bytes from 0.
func (b *Book) at(p *page, line int, written string) Answer {
	if open := strings.LastIndex(written, "${{"); open >= 0 && !strings.Contains(written[open:], "}}") {
		return b.expression(p, written)
	}
	if strings.HasPrefix(strings.TrimSpace(written), "#") {
		return Answer{From: len(written)}
	}
	cells := cellsOf(line, written)
	column := indent(written)
	for len(cells) > 0 && cells[len(cells)-1].dash() && column <= cells[len(cells)-1].column {
		column = cells[len(cells)-1].column + 1
		column += indent(written[min(len(written), column):])
	}
	last := len(cells) - 1
	if last < 0 || cells[last].dash() { // a key, or a text of a list
		column = min(column, len(written))
		typed := written[column:]
		path, beside := p.above(line, column, cells)
		if slices.ContainsFunc(path, func(c cell) bool { return c.text() }) {
			return Answer{From: len(written)}
		}
		if n := len(path); n > 1 && path[n-1].dash() && path[n-2].key == "connections" {
			return b.connection(p, column, typed, path[n-2])
		}
		return Answer{From: column, Items: b.keys(b.down(path), beside)}
	}
	key := cells[last]
	path, _ := p.above(line, key.column, cells[:last])
	if slices.ContainsFunc(path, func(c cell) bool { return c.text() }) {
		return Answer{From: len(written)}
	}
	nodes := b.child(b.down(path), key.key)
	behind := written[strings.Index(written[key.column:], ":")+key.column+1:]
	if in, ok := flow(behind); ok {
		for _, k := range in.open {
			nodes = b.child(nodes, k)
		}
		rest := strings.TrimLeft(in.rest, " ")
		if in.key == "" {
			return Answer{From: len(written) - len(rest), Items: b.keys(nodes, in.beside)}
		}
		return Answer{From: len(written) - len(rest), Items: b.values(p, b.child(nodes, in.key), in.key)}
	}
	rest := strings.TrimLeft(behind, " ")
	if behind == rest && rest != "" || behind == "" { // no space behind the colon yet
		return Answer{From: len(written)}
	}
	return Answer{From: len(written) - len(rest), Items: b.values(p, nodes, key.key)}
}

// down goes from the root of the schema to what a path leads to.
func (b *Book) down(path []cell) []map[string]any {
	nodes := []map[string]any{b.root}
	for _, c := range path {
		if c.dash() {
			nodes = b.each(nodes, func(m map[string]any) []any { return []any{m["items"]} })
			continue
		}
		nodes = b.child(nodes, c.key)
	}
	return nodes
}

// child is what stands below a key.
func (b *Book) child(nodes []map[string]any, key string) []map[string]any {
	return b.each(nodes, func(m map[string]any) []any {
		if props, ok := m["properties"].(map[string]any); ok && props[key] != nil {
			return []any{props[key]}
		}
		return []any{m["additionalProperties"]}
	})
}

// each goes one step from each of the nodes, and opens what it finds.
func (b *Book) each(nodes []map[string]any, step func(map[string]any) []any) []map[string]any {
	var found []map[string]any
	for _, m := range b.opened(nodes) {
		for _, next := range step(m) {
			if n, ok := next.(map[string]any); ok {
				found = append(found, n)
			}
		}
	}
	return found
}

// opened replaces references and alternatives by what they stand for.
func (b *Book) opened(nodes []map[string]any) []map[string]any {
	var out []map[string]any
	seen := map[string]bool{}
	queue := slices.Clone(nodes)
	for len(queue) > 0 {
		m := queue[0]
		queue = queue[1:]
		if name, ok := m["$ref"].(string); ok {
			if d, ok := b.defs[strings.TrimPrefix(name, "#/$defs/")].(map[string]any); ok && !seen[name] {
				seen[name] = true
				queue = append(queue, d)
			}
			continue
		}
		alternatives, _ := m["anyOf"].([]any)
		for _, a := range alternatives {
			if n, ok := a.(map[string]any); ok {
				queue = append(queue, n)
			}
		}
		out = append(out, m)
	}
	return out
}

// keys lists the keys that may stand in one of the nodes beside others.
func (b *Book) keys(nodes []map[string]any, beside []string) []Item {
	found := map[string]Item{}
	for _, m := range b.opened(nodes) {
		props, _ := m["properties"].(map[string]any)
		only, isActivity := byType(m)
		allowed := b.allowed(only, beside)
		for name, s := range props {
			_, isType := only[name]
			switch {
			case slices.Contains(beside, name), isActivity && allowed != nil && !slices.Contains(allowed, name):
				continue
			case isActivity && allowed == nil && !isType && !b.common[name]:
				continue // of which type is not known yet
			}
			if isType {
				if item, ok := b.typeItem(name); ok {
					found[name] = item
				}
				continue
			}
			if strings.HasPrefix(name, "$") {
				continue
			}
			schema, _ := s.(map[string]any)
			item := Item{Label: name, Kind: "key", Insert: name + ": ", Doc: b.doc(schema)}
			item.Detail = b.shape(schema)
			found[name] = item
		}
	}
	return sorted(found)
}

// allowed are the keys beside a type, nil if none is there.
func (b *Book) allowed(only map[string]any, beside []string) []string {
	for _, name := range beside {
		if s, ok := only[name]; ok {
			return slices.DeleteFunc(enumOf(s), func(n string) bool { return n == name })
		}
	}
	return nil
}

// typeItem is an activity type; the long name of a built-in one is no help.
func (b *Book) typeItem(name string) (Item, bool) {
	d := b.types.ByShortName(name)
	if d == nil || d.ShortName() != name {
		return Item{}, false
	}
	insert := name + ": "
	if len(d.Inputs) == 0 && d.MainPort == "" && d.List == "" && d.Cases == "" && len(d.Ports) == 0 {
		insert = name + ": {}"
	}
	first, _, _ := strings.Cut(d.Description, ". ")
	return Item{Label: name, Kind: "type", Insert: insert, Detail: strings.TrimSuffix(first, "."), Doc: describeType(d)}, true
}

// describeType says what an activity takes and gives.
func describeType(d *workflow.Descriptor) string {
	var s strings.Builder
	s.WriteString(d.Description)
	for i, in := range d.Inputs {
		if i == 0 {
			s.WriteString("\n\nInputs:")
		}
		fmt.Fprintf(&s, "\n%s (%s%s)", in.Name, in.Type, map[bool]string{true: ", required"}[in.Required])
		if in.Description != "" {
			s.WriteString(": " + in.Description)
		}
	}
	for i, out := range d.Outputs {
		if i == 0 {
			s.WriteString("\n\nOutputs:")
		}
		fmt.Fprintf(&s, "\n%s (%s)", out.Name, out.Type)
		if out.Description != "" {
			s.WriteString(": " + out.Description)
		}
	}
	if len(d.Ports) > 0 {
		s.WriteString("\n\nBranches: " + strings.Join(d.Ports, ", "))
	}
	if len(d.Outcomes) > 0 {
		s.WriteString("\n\nOutcomes: " + strings.Join(d.Outcomes, ", "))
	}
	return s.String()
}

func (b *Book) doc(schema map[string]any) string {
	for _, m := range b.opened([]map[string]any{schema}) {
		if text, ok := m["description"].(string); ok {
			return text
		}
	}
	return ""
}

// shape is the type of a value in a word.
func (b *Book) shape(schema map[string]any) string {
	for _, m := range b.opened([]map[string]any{schema}) {
		switch t := m["type"].(type) {
		case string:
			return t
		case []any:
			if s, ok := t[0].(string); ok {
				return s
			}
		}
	}
	return ""
}

// takesVariable are the keys whose value is the name of a variable.
var takesVariable = map[string]bool{"result": true, "variable": true}

// values lists what may stand behind a key.
func (b *Book) values(p *page, nodes []map[string]any, key string) []Item {
	found := map[string]Item{}
	add := func(v any) {
		if text, ok := v.(string); ok && text != "" {
			found[text] = Item{Label: text, Kind: "value", Insert: text}
		}
	}
	for _, m := range b.opened(nodes) {
		if m["type"] == "boolean" {
			add("true")
			add("false")
		}
		for _, list := range []string{"enum", "examples"} {
			all, _ := m[list].([]any)
			for _, v := range all {
				add(v)
			}
		}
	}
	for name := range found {
		if item, ok := b.typeItem(name); ok && found[name].Kind == "value" {
			item.Insert = name
			found[name] = item
		}
	}
	if takesVariable[key] {
		for _, name := range p.declared("variables") {
			found[name] = Item{Label: name, Kind: "variable", Insert: name}
		}
	}
	return sorted(found)
}

// expression lists the names that may stand in ${{ }}.
func (b *Book) expression(p *page, written string) Answer {
	from := len(written)
	for from > 0 && isName(written[from-1]) {
		from--
	}
	word := written[from:]
	found := map[string]Item{}
	add := func(prefix string, names []string) {
		for _, n := range names {
			found[prefix+n] = Item{Label: prefix + n, Kind: "variable", Insert: prefix + n}
		}
	}
	before, _, dotted := strings.Cut(word, ".")
	switch {
	case dotted && before == "inputs":
		add("inputs.", p.declared("inputs"))
	case dotted && before == "variables":
		add("variables.", p.declared("variables"))
	case dotted:
	default:
		add("inputs.", p.declared("inputs"))
		add("variables.", p.declared("variables"))
		for _, f := range native.Functions() {
			found[f] = Item{Label: f, Kind: "function", Insert: f + "("}
		}
	}
	return Answer{From: from, Items: sorted(found)}
}

func isName(c byte) bool {
	return c == '.' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// connection lists the activities of a flowchart, and the outcomes of one.
func (b *Book) connection(p *page, column int, typed string, connections cell) Answer {
	from := column + strings.LastIndexAny(typed, " >\"'") + 1
	word := typed[from-column:]
	activities := map[string]cell{}
	for _, cells := range p.cells {
		for _, c := range cells {
			if c.key == "activities" && c.column == connections.column {
				for _, a := range p.below(c) {
					activities[a.key] = a
				}
			}
		}
	}
	found := map[string]Item{}
	id, _, dotted := strings.Cut(word, ".")
	for name, c := range activities {
		if !dotted {
			found[name] = Item{Label: name, Kind: "variable", Insert: name}
			continue
		}
		if name != id {
			continue
		}
		outcomes := []string{"Done"}
		keys := p.below(c)
		if inner, ok := strings.CutPrefix(c.value, "{"); ok {
			key, _, _ := strings.Cut(inner, ":")
			keys = append(keys, cell{key: strings.TrimSpace(key)})
		}
		for _, k := range keys {
			if d := b.types.ByShortName(k.key); d != nil && len(d.Outcomes) > 0 {
				outcomes = d.Outcomes
			}
		}
		for _, o := range outcomes {
			found[o] = Item{Label: name + "." + o, Kind: "outcome", Insert: name + "." + o}
		}
	}
	return Answer{From: from, Items: sorted(found)}
}

// about tells of the key that a place is in.
func (b *Book) about(p *page, line int, whole string, at int) (word, doc string) {
	cells := cellsOf(line, whole)
	last := len(cells) - 1
	if last < 0 || cells[last].dash() || at < cells[last].column || at > cells[last].column+len(cells[last].key) {
		return "", ""
	}
	key := cells[last]
	path, _ := p.above(line, key.column, cells[:last])
	if slices.ContainsFunc(path, func(c cell) bool { return c.text() }) {
		return "", ""
	}
	nodes := b.down(path)
	for _, m := range b.opened(nodes) {
		if only, ok := byType(m); ok && only[key.key] != nil {
			if d := cmp.Or(b.types.ByShortName(key.key), b.types.ByType(key.key)); d != nil {
				return key.key, describeType(d)
			}
		}
	}
	for _, n := range b.child(nodes, key.key) {
		if doc := b.doc(n); doc != "" {
			return key.key, doc
		}
	}
	return "", ""
}

// order of the kinds, and then by name.
var order = map[string]int{"type": 0, "variable": 1, "value": 2, "outcome": 3, "key": 4, "function": 5}

func sorted(found map[string]Item) []Item {
	items := make([]Item, 0, len(found))
	for _, it := range found {
		items = append(items, it)
	}
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(order[a.Kind], order[b.Kind]), cmp.Compare(a.Label, b.Label))
	})
	return items
}
