package instances

import (
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"

	"github.com/weft-run/weft/internal/authoring/compare"
	"github.com/weft-run/weft/internal/people/console/differ"
	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/shape"
	"github.com/weft-run/weft/pkg/apiclient"
)

// What a page that compares reads of each journal, and shows of it.
const (
	comparedEntries = 5_000
	comparedBefore  = 5
	comparedAfter   = 60
	comparedPage    = "300" // entries that are asked for at a time, with their data
)

// compareView is two instances beside each other.
type compareView struct {
	A, B        string
	Wrong       *page.Problem // with one of them
	Both        *[2]shape.Instance
	Differences []compare.Difference
	Alike       []string // variables of which only the beginning was compared
	Uncompared  []string // variables that are kept out of the journal
	Unknown     []string // variables of one that the journal of the other does not tell any more
	Partial     []string // the instances whose journals do not tell all of their variables
	Ways        compare.Ways
	Rows        []comparedRow
	Others      []shape.Summary // that the first may be compared with
}

// comparedRow is what two instances did beside each other.
type comparedRow struct {
	A, B   *apiclient.Journal // nil: it did nothing there
	Same   bool
	Parted bool // here their ways part
}

// Compare shows in what two instances differ, and their journals from where they part. Who
// names one is offered others of its definition.
func Compare(v *page.Visit) (string, any, error) {
	const title = "Compare instances"
	query := v.Request.URL.Query()
	view := compareView{A: query.Get("a"), B: query.Get("b")}
	if view.A == "" && view.B == "" { // chosen in a list
		ids := slices.DeleteFunc(slices.Concat(query["id"], query["selected"]), func(id string) bool { return id == "" })
		view.A = append(ids, "")[0]
		view.B = append(ids, "", "")[1]
		if len(ids) > 2 {
			view.Wrong = &page.Problem{Status: http.StatusUnprocessableEntity, Title: "Two instances are compared", Detail: fmt.Sprintf("You chose %d. These are the first two.", len(ids))}
		}
	}
	var err error
	var p *page.Problem
	switch {
	case view.A == "" && view.B == "":
	case view.A == "" || view.B == "":
		view.A, view.B = view.A+view.B, ""
		p, err = asProblem(others(v, &view))
	default:
		p, err = asProblem(compareInstances(v, &view))
	}
	if p != nil {
		view.Wrong = p
	}
	return title, &view, err
}

// others reads with which instances the first one may be compared.
func others(v *page.Visit, view *compareView) error {
	in, err := page.Get[shape.Instance](v, page.At("instances", view.A), nil)
	if err != nil {
		return err
	}
	found, err := page.Paged[shape.Summary](v, "/instances", url.Values{"view": {"summary"}, "definitionId": {in.DefinitionID}, "limit": {"11"}})
	for i := range found.Items {
		if found.Items[i].InstanceID != view.A {
			view.Others = append(view.Others, found.Items[i])
		}
	}
	return err
}

func compareInstances(v *page.Visit, view *compareView) error {
	var both [2]shape.Instance
	var portraits [2]compare.Portrait
	for i, id := range []string{view.A, view.B} {
		in, err := page.Get[apiclient.Instance](v, page.At("instances", id), nil)
		if err != nil {
			return named(id, err)
		}
		vars, err := page.Get[apiclient.Variables](v, page.At("instances", id, "variables"), nil)
		if err != nil {
			return named(id, err)
		}
		if portraits[i] = compare.Of(&in, &vars); portraits[i].Partial() {
			view.Partial = append(view.Partial, id)
		}
		both[i] = shape.Instance{InstanceID: in.InstanceID, DefinitionID: in.DefinitionID, Version: int(in.Version), Name: in.Name, CorrelationID: in.CorrelationID, SubStatus: in.SubStatus, CreatedAt: in.CreatedAt}
	}
	view.Both = &both
	view.Differences, view.Alike, view.Uncompared = portraits[0].Differences(portraits[1]), portraits[0].Alike(portraits[1]), portraits[0].Uncompared(portraits[1])
	view.Unknown = portraits[0].Unknown(portraits[1])
	var err error
	view.Ways, err = compare.Follow(entries(v, view.A), entries(v, view.B), compare.Bounds{Entries: comparedEntries, Before: comparedBefore, After: comparedAfter})
	view.Rows = besides(&view.Ways)
	return err
}

// named says of which instance a problem is.
func named(id string, err error) error {
	p, err := asProblem(err)
	if p != nil {
		p.Detail = page.Short(80, id) + ": " + p.Detail
		return p
	}
	return err
}

// asProblem tells what the API refused from what went wrong.
func asProblem(err error) (*page.Problem, error) {
	var p *page.Problem
	if page.IsProblem(err) && errors.As(err, &p) {
		return p, nil
	}
	return nil, err
}

// entries reads a journal from its beginning, a page at a time as it is needed.
func entries(v *page.Visit, id string) iter.Seq2[apiclient.Journal, error] {
	return func(yield func(apiclient.Journal, error) bool) {
		ask := url.Values{"limit": {comparedPage}, "items": {comparedPage}}
		for {
			found, err := page.Get[apiclient.JournalPage](v, page.At("instances", id, "journal"), ask)
			if err != nil {
				yield(apiclient.Journal{}, err)
				return
			}
			for i := range found.Items {
				if !yield(found.Items[i], nil) {
					return
				}
			}
			if found.NextCursor == nil {
				return
			}
			ask.Set("cursor", *found.NextCursor)
		}
	}
}

// besides puts what two instances did beside each other: where they part, and what is the same
// again behind it.
func besides(w *compare.Ways) []comparedRow {
	var rows []comparedRow
	for i := range w.Same {
		rows = append(rows, comparedRow{A: &w.Same[i], B: &w.Same[i], Same: true})
	}
	if w.Parted == 0 {
		return rows
	}
	first := len(rows)
	did := func(all []apiclient.Journal) (lines []string) {
		for i := range all {
			lines = append(lines, compare.Did(&all[i]))
		}
		return lines
	}
	a, b, free := 0, 0, -1 // free is the first row that has room for what only the second one did
	for _, op := range differ.Script(did(w.A), did(w.B)) {
		switch op {
		case '-':
			rows = append(rows, comparedRow{A: &w.A[a]})
			if free < 0 {
				free = len(rows) - 1
			}
			a++
		case '+':
			if free >= 0 && free < len(rows) && !rows[free].Same {
				rows[free].B = &w.B[b]
				free++
			} else {
				rows = append(rows, comparedRow{B: &w.B[b]})
				free = -1
			}
			b++
		default:
			rows = append(rows, comparedRow{A: &w.A[a], B: &w.B[b], Same: true})
			a, b, free = a+1, b+1, -1
		}
	}
	if first < len(rows) {
		rows[first].Parted = true
	}
	return rows
}
