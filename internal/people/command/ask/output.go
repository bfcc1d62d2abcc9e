package ask

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/itchyny/gojq"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

// Column is one of a table: a path in the JSON of a row, and how its value is shown.
type Column struct {
	Head, Path string
	Wide       bool                              // only in -o wide
	Show       func(a *Asker, v, row any) string // nil: as a text
	Unless     []string                          // paths of the row: the first that is true is shown, by its name
}

// View is how rows of a kind are shown.
type View struct {
	Columns []Column
	Name    string // of -o name: kind/ and the path of the id
	Empty   string // what is said when there is none
}

// forms are the values of -o, where a command has none of its own.
var forms = []string{"table", "wide", "json", "jsonl", "yaml", "name"}

func formsOf(c *cobra.Command) []string {
	if own := c.Annotations[formsKey]; own != "" {
		return strings.Split(own, ",")
	}
	return forms
}

func (a *Asker) checkFlags(c *cobra.Command) error {
	may := formsOf(c)
	if a.output != "" && !slices.Contains(may, a.output) {
		return Usage("-o is %q; it must be one of %s", a.output, strings.Join(may, ", "))
	}
	if a.watch && c.Annotations[watchKey] == "" {
		return Usage("%s is done once: --watch is for what is only shown", c.CommandPath())
	}
	switch a.times {
	case "relative", "iso", "local":
	default:
		return Usage("--time is %q; it may be relative, iso or local", a.times)
	}
	return nil
}

// AsData tells that a program reads the output.
func (a *Asker) AsData() bool {
	return a.jq != "" || a.output == "json" || a.output == "jsonl" || a.output == "yaml"
}

// Form is the value of -o, "" if there is none.
func (a *Asker) Form() string { return a.output }

// ForPeople tells that whole rows are shown, and what is said beside them is read.
func (a *Asker) ForPeople() bool {
	return !a.AsData() && a.output != "name" && len(a.columns) == 0
}

// Filters tells that --jq takes what is wanted of the JSON.
func (a *Asker) Filters() bool { return a.jq != "" }

// DecodeJSON keeps the digits of numbers.
func DecodeJSON(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// Show shows an answer: items of a list, or one thing as one row.
func (a *Asker) Show(v View, raw []byte) error {
	value, err := DecodeJSON(raw)
	if err != nil {
		return fmt.Errorf("the answer is no JSON: %w", err)
	}
	if a.AsData() {
		return a.Data(value)
	}
	rows := []any{value}
	if items, ok := At(value, "items").([]any); ok {
		rows = items
	}
	return a.Table(v, rows)
}

// Data shows a value for programs.
func (a *Asker) Data(value any) error {
	if a.jq != "" {
		return a.filtered(value)
	}
	switch a.output {
	case "yaml":
		enc := yaml.NewEncoder(a.Out)
		enc.SetIndent(2)
		if err := enc.Encode(plainNumbers(value)); err != nil {
			return err
		}
		return enc.Close()
	case "jsonl":
		items, ok := At(value, "items").([]any)
		if !ok {
			items = []any{value}
		}
		for _, item := range items {
			if err := a.JSON(item, ""); err != nil {
				return err
			}
		}
		return nil
	}
	return a.JSON(value, "  ")
}

// JSON shows a value as JSON.
func (a *Asker) JSON(value any, indent string) error {
	enc := json.NewEncoder(a.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(value)
}

// filtered shows what --jq makes of a value: texts as they are, all else as JSON.
func (a *Asker) filtered(value any) error {
	query, err := gojq.Parse(a.jq)
	if err != nil {
		return Usage("--jq: %w", err)
	}
	found := query.Run(forJQ(value))
	for {
		v, more := found.Next()
		if !more {
			return nil
		}
		if err, failed := v.(error); failed {
			return Usage("--jq: %w", err)
		}
		if text, ok := v.(string); ok {
			if _, err := fmt.Fprintln(a.Out, text); err != nil {
				return err
			}
			continue
		}
		raw, err := gojq.Marshal(v)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(a.Out, string(raw)); err != nil {
			return err
		}
	}
}

// forJQ gives numbers as gojq takes them: whole ones exactly.
func forJQ(v any) any { return numbers(v, func(n json.Number) any { return gojqNumber(n) }) }

func gojqNumber(n json.Number) any {
	if i, err := strconv.Atoi(n.String()); err == nil {
		return i
	}
	if i, ok := new(big.Int).SetString(n.String(), 10); ok {
		return i
	}
	f, _ := n.Float64()
	return f
}

// plainNumbers gives numbers as YAML writes them without quotes.
func plainNumbers(v any) any {
	return numbers(v, func(n json.Number) any {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: map[bool]string{true: "!!float", false: "!!int"}[strings.ContainsAny(n.String(), ".eE")], Value: n.String()}
	})
}

func numbers(v any, number func(json.Number) any) any {
	switch v := v.(type) {
	case json.Number:
		return number(v)
	case int64: // of rows that are made here
		return int(v)
	case []string:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = e
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = numbers(e, number)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = numbers(e, number)
		}
		return out
	}
	return v
}

// At is the value at a path of names, nil if there is none.
func At(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch parent := v.(type) {
		case map[string]any:
			v = parent[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(parent) {
				return nil
			}
			v = parent[i]
		default:
			return nil
		}
	}
	return v
}

// Table shows rows for people, or only their names.
func (a *Asker) Table(v View, rows []any) error {
	if a.output == "name" {
		kind, path, ok := strings.Cut(v.Name, "/")
		if !ok {
			return Usage("-o name: this has no names")
		}
		for _, row := range rows {
			if _, err := fmt.Fprintf(a.Out, "%s/%s\n", kind, Text(At(row, path))); err != nil {
				return err
			}
		}
		return nil
	}
	columns := a.chosenColumns(v)
	noteColumns(a, rows)
	if len(rows) == 0 {
		if v.Empty != "" {
			fmt.Fprintln(a.ErrOut, v.Empty)
		}
		return nil
	}
	cells := [][]string{}
	if !a.noHeaders {
		var heads []string
		for _, c := range columns {
			heads = append(heads, c.Head)
		}
		cells = append(cells, heads)
	}
	for _, row := range rows {
		var line []string
		for _, c := range columns {
			value := At(row, c.Path)
			instead := slices.IndexFunc(c.Unless, func(path string) bool { return At(row, path) == true })
			if instead >= 0 {
				line = append(line, c.Unless[instead])
			} else if c.Show != nil {
				line = append(line, OneLine(c.Show(a, value, row)))
			} else {
				line = append(line, OneLine(Text(value)))
			}
		}
		cells = append(cells, line)
	}
	return writeTable(a.Out, cells)
}

func (a *Asker) chosenColumns(v View) []Column {
	if len(a.columns) > 0 {
		var out []Column
		for _, path := range a.columns {
			out = append(out, Column{Head: strings.ToUpper(path[strings.LastIndexByte(path, '.')+1:]), Path: path})
		}
		return out
	}
	return slices.DeleteFunc(slices.Clone(v.Columns), func(c Column) bool { return c.Wide && a.output != "wide" })
}

// noteColumns tells of columns that no row has: a name that is misspelt is no column of nothing.
func noteColumns(a *Asker, rows []any) {
	if a.noted || len(a.columns) == 0 || len(rows) == 0 {
		return
	}
	has := map[string]any{}
	for _, row := range rows {
		object, _ := row.(map[string]any)
		maps.Copy(has, object)
	}
	names := SortedKeys(has)
	for _, path := range a.columns {
		first, _, _ := strings.Cut(path, ".")
		if _, ok := has[first]; ok || len(names) == 0 {
			continue
		}
		a.noted = true
		a.Note(fmt.Sprintf("no row has %q%s; they have %s", first, workflow.DidYouMean(first, names), strings.Join(names, ", ")))
	}
}

// writeTable writes columns as wide as their longest cell, two spaces apart. The last has no end.
func writeTable(w io.Writer, cells [][]string) error {
	var widths []int
	for _, line := range cells {
		for i, c := range line {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	var b strings.Builder
	for _, line := range cells {
		for i, c := range line {
			if i > 0 {
				b.WriteString("  ")
			}
			b.WriteString(c)
			if i < len(line)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)))
			}
		}
		b.WriteByte('\n')
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n"))
	return err
}

// Text is a value of JSON in a cell.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case string:
		if v == "" {
			return "-"
		}
		return v
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // it was read from JSON
	return strings.TrimSpace(b.String())
}

// OneLine keeps a cell from breaking the table or the terminal: texts come from anywhere.
func OneLine(s string) string {
	s = strings.Map(visible, s)
	const most = 100
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return s
}

// Printable keeps texts that come from anywhere from moving the cursor of a terminal. Lines stay.
func Printable(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.Map(visible, line)
	}
	return strings.Join(lines, "\n")
}

// visible is a character in the place of one that a terminal obeys.
func visible(r rune) rune {
	if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
		return ' '
	}
	return r
}

// When shows a time as --time says.
func When(a *Asker, v, _ any) string {
	t, err := time.Parse(time.RFC3339Nano, Text(v))
	if err != nil {
		return Text(v)
	}
	switch a.times {
	case "iso":
		return t.UTC().Format(time.RFC3339)
	case "local":
		return t.In(a.zone()).Format("2006-01-02 15:04:05 MST")
	}
	d := a.Now().Sub(t)
	switch {
	case d < 0 && -d < 0: // in centuries, which no duration has
		return "in " + t.UTC().Format("2006")
	case d < 0:
		return "in " + Short(-d)
	}
	return Short(d) + " ago"
}

// Clock is the time of day of a line that is written as something happens: how long ago that is would
// always be now.
func Clock(a *Asker, v string) string {
	t, err := time.Parse(time.RFC3339Nano, v)
	if err != nil || a.times == "iso" || a.times == "local" {
		return When(a, v, nil)
	}
	return t.In(a.zone()).Format(time.TimeOnly)
}

// zone is that of the user: the program itself lives in UTC.
func (a *Asker) zone() *time.Location {
	for _, name := range []string{a.environ["TZ"], "/etc/localtime"} {
		if name == "" {
			continue
		}
		if z, err := time.LoadLocation(strings.TrimPrefix(name, ":")); err == nil {
			return z
		}
		if raw, err := readSmall(name, 1<<20, "a time zone"); err == nil {
			if z, err := time.LoadLocationFromTZData("local", raw); err == nil {
				return z
			}
		}
	}
	return time.UTC
}

// Short is a duration in its two largest units.
func Short(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

// Count shows how many there are of a list.
func Count(_ *Asker, v, _ any) string {
	list, _ := v.([]any)
	return strconv.Itoa(len(list))
}

// OneLineOf is [oneLine] with another length.
func OneLineOf(s string, most int) string {
	var out []string
	for rest := []rune(s); len(rest) > 0; {
		n := min(len(rest), 90)
		out = append(out, OneLine(string(rest[:n])))
		rest = rest[n:]
	}
	all := []rune(strings.Join(out, ""))
	return string(all[:min(len(all), most)])
}

// Deref is a text in a line, "" for none.
func Deref(s *string) string {
	if s == nil {
		return ""
	}
	return OneLine(*s)
}

// Compact is a value as JSON in a line, "" for none.
func Compact(v any) string {
	raw, err := json.Marshal(v)
	if err != nil || string(raw) == "null" {
		return ""
	}
	return OneLine(string(raw))
}

// Moment is a time in words, "" for none.
func (a *Asker) Moment(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	shown := When(a, t.Format(time.RFC3339Nano), nil)
	if a.times == "relative" {
		shown = t.UTC().Format("2006-01-02 15:04:05 UTC") + " (" + shown + ")"
	}
	return shown
}

// SortedKeys are the names in an object.
func SortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// DecodeStrict refuses fields that are not known: a typo is no wish.
func DecodeStrict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errors.New("there is more behind its end")
	}
	return nil
}
