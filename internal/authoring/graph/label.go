package graph

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/weft-run/weft/pkg/workflow"
)

// maxText bounds what is kept of a detail: the picture shows less.
const maxText = 200

// node is what is drawn for an activity.
func (b *builder) node(a *workflow.Activity, kind Kind) Node {
	return Node{Kind: kind, ID: a.ID, Type: b.typeName(a), Name: cut(plain(a.Name)), Detail: cut(plain(b.detail(a))), Place: a.Place}
}

func (b *builder) typeName(a *workflow.Activity) string {
	if a.Ref != nil && a.Ref.ID != "" {
		return plain(a.Ref.ID)
	}
	return plain((&workflow.Descriptor{Type: a.Type}).ShortName())
}

// detail is the main input of an activity in short.
func (b *builder) detail(a *workflow.Activity) string {
	text := func(name string) string { return expressionText(a.Inputs[name]) }
	switch a.Type {
	case "Elsa.SetVariable":
		return text("variable") + " = " + cmp.Or(text("value"), "null")
	case "Elsa.SetOutput":
		return text("outputName") + " = " + text("outputValue")
	case "Elsa.SetLabel":
		return text("name") + " = " + text("value")
	case "Elsa.SendHttpRequest", "Elsa.FlowSendHttpRequest":
		return strings.TrimSpace(text("method") + " " + text("url"))
	case "Elsa.For":
		return strings.TrimSpace(text("start") + " to " + text("end"))
	case "Elsa.BulkDispatchWorkflows":
		return text("workflowDefinitionId")
	}
	var d *workflow.Descriptor
	if b.types != nil {
		d = b.types.ByType(a.Type)
	}
	if d != nil && d.Main != "" {
		if in, ok := d.Input(d.Main); ok && !in.Sensitive {
			return text(in.Name)
		}
		return ""
	}
	if d == nil && a.Ref == nil && len(a.Inputs) == 1 {
		return text(slices.Collect(maps.Keys(a.Inputs))[0])
	}
	return ""
}

// expressionText is the source of an expression as people would write it in a line.
func expressionText(e workflow.Expression) string {
	switch e.Kind {
	case "":
		return ""
	case workflow.VariableOf:
		return fmt.Sprintf("variables.%v", e.Value)
	case workflow.InputOf:
		return fmt.Sprintf("inputs.%v", e.Value)
	}
	switch v := e.Value.(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(v)
	case fmt.Stringer:
		return v.String()
	default:
		raw, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(raw)
	}
}

// plain is a text in one line, without characters that change how others are shown.
func plain(s string) string {
	space := false
	out := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			r = ' '
		}
		if unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return -1
		}
		was := space
		if space = r == ' '; space && was {
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(out)
}

func cut(s string) string { return clip(s, maxText) }

// clip shortens a text to so many cells.
func clip(s string, most int) string {
	if len(s) <= most || cells(s) <= most {
		return s
	}
	n := 0
	for i, r := range s {
		n += runeCells(r)
		if n > most-1 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// cells is how many columns a text takes in a font of fixed width.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += runeCells(r)
	}
	return n
}

func runeCells(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	if r >= 0x1F300 && r <= 0x1FAFF {
		return 2
	}
	return 1
}

// spaced writes unmatchedStatusCode as unmatched status code.
func spaced(name string) string {
	var out strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			out.WriteByte(' ')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
