package instances

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/shape"
	"github.com/weft-run/weft/pkg/workflow"
)

// instancesView is a page of the list of instances.
type instancesView struct {
	page.ListView[shape.Summary]
	Wrong   *page.Problem // with what was looked for
	Q       string
	Oldest  bool   // first
	Turned  string // the line for the other way round
	Columns []Column
	Asked   string   // for columns, in the address; "": those of this browser
	Strange []string // columns of the address that there are not
	Chips   []shape.Chip
	Total   *shape.Tally // of all that match; nil: it is not known
	Among   *shape.Tally // those that it was looked for in; nil: not known
}

// List lists those that the search line finds. A mistake in it is shown beside it.
func List(v *page.Visit) (string, any, error) {
	found, err := page.Paged[shape.Summary](v, "/instances", url.Values{"view": {"summary"}}, "q")
	query := v.Request.URL.Query()
	view := instancesView{ListView: found, Q: query.Get("q"), Asked: query.Get("columns")}
	var p *page.Problem
	if errors.As(err, &p) && p.Status == http.StatusUnprocessableEntity {
		view.Wrong, err = p, nil
	}
	if err != nil {
		return "", nil, err
	}
	view.Columns, view.Strange = columns(v)
	if len(view.Strange) > 0 {
		view.Asked = ""
	}
	if view.Asked != "" {
		view.Next, view.First = page.WithParam(view.Next, "columns", view.Asked), page.WithParam(view.First, "columns", view.Asked)
	}
	var line string
	view.Oldest, line = turned(view.Q)
	view.Turned = view.At(line)
	return "Instances", &view, countInstances(v, &view)
}

// At is the address of another search line, with the columns that this page has.
func (i *instancesView) At(q string) string {
	return page.WithParam(page.Path+"instances?q="+url.QueryEscape(q), "columns", i.Asked)
}

// LookedFar tells whether more was looked at than fitted, and there is more to look at.
func (i *instancesView) LookedFar() bool { return i.Next != "" && i.Looked > len(i.Items) }

// countInstances counts what the chips lead to, and what the line finds. What cannot be counted now is
// left out: the list is there without it.
func countInstances(v *page.Visit, view *instancesView) error {
	states := []struct {
		text string
		is   find.Filter
	}{
		{"all", find.Filter{}}, {"running", find.Filter{Status: workflow.StatusRunning}}, {"suspended", find.Filter{SubStatus: workflow.Suspended}},
		{"faulted", find.Filter{SubStatus: workflow.Faulted}}, {"finished", find.Filter{SubStatus: workflow.Finished}}, {"cancelled", find.Filter{SubStatus: workflow.Cancelled}},
	}
	all, err := shape.CountInstances(v, url.Values{"by": {"total"}})
	if err != nil {
		return err
	}
	for _, s := range states {
		q := s.is.String()
		one := shape.Chip{Text: s.text, To: view.At(q), Here: view.Q == q}
		if all != nil {
			one.Count = all.Of(s.is)
		}
		view.Chips = append(view.Chips, one)
	}
	if all != nil && view.Wrong == nil {
		return countFound(v, view, all)
	}
	return nil
}

// countFound counts what the line finds, where that is known without looking at instances, or else
// among how many it looks.
func countFound(v *page.Visit, view *instancesView, all *shape.Stats) error {
	f, err := find.Parse(view.Q, "")
	if err != nil {
		return err
	}
	of := all
	if f.DefinitionID != "" {
		if of, err = shape.CountInstances(v, url.Values{"definitionId": {f.DefinitionID}}); err != nil || of == nil {
			return err
		}
	}
	view.Among = of.Of(f)
	known := find.Filter{Status: f.Status, SubStatus: f.SubStatus, DefinitionID: f.DefinitionID, Version: f.Version, Order: f.Order}
	if known.Equal(f) {
		view.Total = view.Among
	}
	return nil
}

// Chosen leads to the comparison of the two instances that were chosen in a list.
func Chosen(v *page.Visit) (string, any, error) {
	ids := slices.DeleteFunc(v.Request.URL.Query()["selected"], func(id string) bool { return id == "" })
	if len(ids) != 2 {
		return "", nil, &page.Problem{Status: http.StatusUnprocessableEntity, Title: "Two instances are compared", Detail: fmt.Sprintf("Choose two rows of the list; %d are chosen.", len(ids))}
	}
	return "", nil, &page.Elsewhere{To: page.Path + "compare?" + url.Values{"a": ids[:1], "b": ids[1:]}.Encode()}
}

// Column is one of the list of instances.
type Column struct {
	Name, Title string
	Usual       bool
}

// theColumns are all of them, in the order in which they stand unless an address says another one.
// That of the instance leads to it, and is there always.
var theColumns = []Column{
	{"status", "Status", true}, {"definition", "Definition", true}, {theInstance, "Instance", true}, {"name", "Name", true},
	{"correlation", "Correlation", true}, {"waits", "Waits for", true}, {"started", "Started", true}, {"updated", "Changed", true},
	{"duration", "Duration", true}, {"incidents", "Incidents", true}, {"labels", "Labels", false},
}

const theInstance = "id"

// UsualColumns are those that nobody chose.
func UsualColumns() []Column {
	return slices.DeleteFunc(slices.Clone(theColumns), func(c Column) bool { return !c.Usual })
}

// readColumns reads the names of columns, and gives those that there are not. None: nil.
func readColumns(text string) (chosen []Column, strange []string) {
	for name := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(theColumns, func(c Column) bool { return c.Name == name })
		switch {
		case name == "":
		case i < 0:
			strange = append(strange, page.Short(40, name))
		case !slices.Contains(chosen, theColumns[i]):
			chosen = append(chosen, theColumns[i])
		}
	}
	at := slices.IndexFunc(theColumns, func(c Column) bool { return c.Name == theInstance })
	if len(chosen) == 0 || slices.Contains(chosen, theColumns[at]) {
		return chosen, strange
	}
	behind := slices.IndexFunc(chosen, func(c Column) bool { return slices.Contains(theColumns[at:], c) })
	if behind < 0 {
		behind = len(chosen)
	}
	return slices.Insert(chosen, behind, theColumns[at]), strange
}

// columns are those that the address asks for, or else those that this browser keeps.
func columns(v *page.Visit) (chosen []Column, strange []string) {
	chosen, strange = readColumns(v.Request.URL.Query().Get("columns"))
	if len(chosen) == 0 {
		if kept, err := v.Request.Cookie(page.ColumnsCookie); err == nil {
			chosen, _ = readColumns(kept.Value) // another version of the program may have had others
		}
	}
	if len(chosen) == 0 {
		chosen = UsualColumns()
	}
	return chosen, strange[:min(len(strange), len(theColumns))]
}

// Choices are all columns, those that are shown ticked.
func (i *instancesView) Choices() []choice {
	var all []choice
	for _, c := range theColumns {
		all = append(all, choice{c, slices.Contains(i.Columns, c), c.Name == theInstance})
	}
	return all
}

type choice struct {
	Column
	Shown, Always bool
}

// Columned keeps which columns the list of instances has, and shows it so.
func Columned(v *page.Visit) {
	v.Taste(page.ColumnsCookie, func() (string, error) {
		chosen, strange := readColumns(strings.Join(v.Request.PostForm["column"], ","))
		if len(strange) > 0 {
			return "", fmt.Errorf("there is no column %s", strings.Join(strange, ", "))
		}
		names := make([]string, len(chosen))
		for i := range chosen {
			names[i] = chosen[i].Name
		}
		if slices.Equal(chosen, UsualColumns()) {
			names = nil
		}
		return strings.Join(names, ","), nil
	}, func(chosen string) string {
		u, err := url.Parse(v.Back())
		if err != nil {
			return page.Path
		}
		q := u.Query()
		if q.Set("columns", chosen); chosen == "" {
			q.Del("columns")
		}
		q.Del("done")
		u.RawQuery = q.Encode()
		return u.String()
	})
}

// oldestFirst is the word of the line that turns a list round.
const oldestFirst = "sort:created"

// turned tells whether a line asks for the oldest first, and gives the line that asks for the
// other way round.
func turned(line string) (oldest bool, other string) {
	var words []string
	for _, word := range lineWords(line) {
		switch word {
		case oldestFirst:
			oldest = true
		case "sort:-created":
		default:
			words = append(words, word)
		}
	}
	if !oldest {
		words = append(words, oldestFirst)
	}
	return oldest, strings.Join(words, " ")
}

// lineWords are the words of a search line: a quoted value may have spaces.
func lineWords(line string) (words []string) {
	word, quoted, escaped := "", false, false
	for _, r := range line + " " {
		switch {
		case unicode.IsSpace(r) && !quoted:
			if word != "" {
				words = append(words, word)
			}
			word = ""
			continue
		case r == '"' && !escaped:
			quoted = !quoted
		}
		escaped = r == '\\' && quoted && !escaped
		word += string(r)
	}
	if word = strings.TrimSpace(word); word != "" { // a quote that is not closed
		words = append(words, word)
	}
	return words
}
