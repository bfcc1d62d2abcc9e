package definitions

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/shape"
)

// face is what a definition takes and gives, and what starts it.
type face struct {
	ID                                string
	Version, Published, LatestVersion int
	Name, Description                 *string
	Inputs, Outputs                   []declared
	MoreInputs                        bool
	Starts                            []shape.Starts
}

type declared struct {
	Name, Type, Description string
	List, Required          bool
	Default                 json.RawMessage
}

// readFace reads the interface of a definition. One that this node cannot compile has none to show.
func readFace(v *page.Visit, id string, query url.Values) (face, error) {
	f, err := page.Get[face](v, page.At("definitions", id, "interface"), query)
	var p *page.Problem
	if errors.As(err, &p) && p.Status != http.StatusNotFound {
		return face{ID: id, MoreInputs: true}, nil
	}
	return f, err
}

// Kind says which field of a form an input gets.
func (d declared) Kind() string {
	switch d.Type {
	case "String", "DateTime", "DateTimeOffset", "TimeSpan":
		if !d.List {
			return "text"
		}
	case "Int16", "Int32", "Int64", "Single", "Double", "Decimal":
		if !d.List {
			return "number"
		}
	case "Boolean":
		if !d.List {
			return "boolean"
		}
	}
	return "json"
}

// Usual is the default as a field shows it.
func (d declared) Usual() string {
	var text string
	if json.Unmarshal(d.Default, &text) == nil {
		return text
	}
	return string(d.Default)
}
