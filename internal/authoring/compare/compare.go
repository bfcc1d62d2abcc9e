// Package compare finds in what two instances differ, and where their ways part.
//
// What it guarantees: what differs in definition, status, labels, input, output, incidents and
// variables is told, and the first entry of the journals in which the instances did not do the
// same. Ids and times always differ, so they are not compared, nor are the variables of
// activities, which have the number of their execution.
//
// What it does not: of a long variable the API gives the beginning, and no more of it is
// compared; [Portrait.Alike] names those. What is kept out of the journal the API does not give;
// [Portrait.Uncompared] names those. A journal that lost entries tells not all variables;
// [Portrait.Unknown] names those that the other instance has. It asks nobody: the command line and
// the console bring what the API answered to them.
package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/apiclient"
)

// Portrait is what is compared of an instance beside its journal: values by their names, such
// as input.amount or variable.total.
type Portrait struct {
	values  map[string]string
	clipped map[string]bool // those of which this is the beginning
	hidden  map[string]bool // those of which the API keeps the value to itself
	partial bool            // variables may be missing
}

// ofVariable is how the names of variables begin.
const ofVariable = "variable."

// Of makes the portrait of an instance with its newest variables.
func Of(in *apiclient.Instance, variables *apiclient.Variables) Portrait {
	p := Portrait{partial: !variables.Complete, clipped: map[string]bool{}, hidden: map[string]bool{}, values: map[string]string{
		"definition": fmt.Sprintf("%s v%d", in.DefinitionID, in.Version), "status": in.SubStatus, "name": text(in.Name), "correlation": text(in.CorrelationID),
	}}
	for name, value := range in.Labels {
		p.values["label."+name] = value
	}
	for prefix, values := range map[string]map[string]any{"input.": in.Input, "output.": in.Output} {
		for name, value := range values {
			p.values[prefix+name] = asJSON(value)
		}
	}
	for i, incident := range in.Incidents {
		p.values[fmt.Sprintf("incident.%d", i+1)] = incident.ActivityID + ": " + incident.Message
	}
	for _, v := range variables.Variables {
		if v.Execution != 0 {
			continue
		}
		name := ofVariable + v.Name
		p.values[name], p.clipped[name], p.hidden[name] = asJSON(v.Value), v.Clipped, v.Hidden
	}
	return p
}

// Difference is a thing of which two instances have not the same. What one of them does not
// have is empty.
type Difference struct {
	What string `json:"what"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// Differences are those from one portrait to another, by the names of the things. What one of
// them hides, or may have had, is not among them, as nobody knows.
func (p Portrait) Differences(other Portrait) []Difference {
	names := maps.Clone(p.values)
	maps.Copy(names, other.values)
	found := []Difference{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if a, b := p.values[name], other.values[name]; a != b && !p.hidden[name] && !other.hidden[name] && !p.mayHave(name) && !other.mayHave(name) {
			found = append(found, Difference{name, a, b})
		}
	}
	return found
}

// far is how much two texts may have in common at their beginning and still be shown from there.
const far = 60

// Shown is what the two have, from a little before where they differ if that is far from their
// beginning: what is cut to a line still shows a difference.
func (d Difference) Shown() (a, b string) {
	from, to := []rune(d.A), []rune(d.B)
	n := 0
	for n < len(from) && n < len(to) && from[n] == to[n] {
		n++
	}
	if n <= far {
		return d.A, d.B
	}
	return "…" + string(from[n-far/3:]), "…" + string(to[n-far/3:])
}

// Alike names those of which only the beginning was compared, and that is the same.
func (p Portrait) Alike(other Portrait) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(p.clipped)) {
		if p.clipped[name] && p.values[name] == other.values[name] {
			names = append(names, name)
		}
	}
	return names
}

// Uncompared names those of which one hides the value, or both do.
func (p Portrait) Uncompared(other Portrait) []string {
	all := maps.Clone(p.hidden)
	for name, hidden := range other.hidden {
		all[name] = all[name] || hidden
	}
	maps.DeleteFunc(all, func(_ string, hidden bool) bool { return !hidden })
	return slices.Sorted(maps.Keys(all))
}

// mayHave tells that an instance may have a variable that its journal does not tell.
func (p Portrait) mayHave(name string) bool {
	_, told := p.values[name]
	return p.partial && !told && strings.HasPrefix(name, ofVariable)
}

// Unknown names the variables that one of the two has, and of which the journal of the other
// does not tell whether it has them.
func (p Portrait) Unknown(other Portrait) []string {
	var names []string
	for _, two := range [][2]Portrait{{p, other}, {other, p}} {
		for name := range two[0].values {
			if two[1].mayHave(name) && !two[0].hidden[name] {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// Partial tells that the journal of an instance does not tell all of its variables.
func (p Portrait) Partial() bool { return p.partial }

// Bounds are of what [Follow] reads and keeps.
type Bounds struct {
	Entries       int // of each journal that are compared; 0: all
	Before, After int // that are kept: the last that are the same, and those from where the ways part
}

// Ways are two journals up to where they part, and a little farther.
type Ways struct {
	Parted int // the number of the first entry that is not the same, from 1; 0: none was found
	Looked int // entries of the longer one that were compared
	Ended  bool
	// Same are the last entries before, as the first instance has them. A and B are those from
	// the number Parted on; an instance that has none has come to its end there.
	Same, A, B []apiclient.Journal
}

// Follow reads two journals from their beginnings until they part.
func Follow(a, b iter.Seq2[apiclient.Journal, error], bounds Bounds) (Ways, error) {
	nextA, stopA := iter.Pull2(a)
	defer stopA()
	nextB, stopB := iter.Pull2(b)
	defer stopB()
	var w Ways
	for bounds.Entries == 0 || w.Looked < bounds.Entries {
		didA, errA, moreA := nextA()
		didB, errB, moreB := nextB()
		switch {
		case errA != nil:
			return w, errA
		case errB != nil:
			return w, errB
		case !moreA && !moreB:
			w.Ended = true
			return w, nil
		}
		w.Looked++
		if moreA == moreB && Did(&didA) == Did(&didB) {
			w.Same = last(append(w.Same, didA), bounds.Before)
			continue
		}
		w.Parted = w.Looked
		var err error
		if w.A, err = rest(didA, moreA, nextA, bounds.After); err != nil {
			return w, err
		}
		w.B, err = rest(didB, moreB, nextB, bounds.After)
		return w, err
	}
	return w, nil
}

// rest are the entries from one on, n at most.
func rest(first apiclient.Journal, there bool, next func() (apiclient.Journal, error, bool), n int) ([]apiclient.Journal, error) {
	var all []apiclient.Journal
	for it := first; there; {
		all = append(all, it)
		if len(all) >= n {
			break
		}
		var err error
		if it, err, there = next(); err != nil {
			return all, err
		}
	}
	return all, nil
}

// last are the last n of a list.
func last(all []apiclient.Journal, n int) []apiclient.Journal {
	return all[max(0, len(all)-n):]
}

// Did is what an entry of a journal says that was done. nil: there is none.
func Did(j *apiclient.Journal) string {
	if j == nil {
		return "(its end)"
	}
	return strings.TrimSpace(j.Event + " " + j.ActivityID + " " + j.Text)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// asJSON is a value in one line; null is as nothing.
func asJSON(v any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return ""
	}
	if text := strings.TrimSpace(out.String()); text != "null" {
		return text
	}
	return ""
}
