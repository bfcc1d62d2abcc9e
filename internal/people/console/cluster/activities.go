package cluster

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/pkg/apiclient"
)

// activitiesView is what definitions may be made of.
type activitiesView struct {
	Q       string
	Items   []apiclient.Activity
	All     int   // how many there are
	Unknown int64 // definitions of which it is not known what they use
}

// Open tells whether all that was found is shown whole.
func (a *activitiesView) Open() bool { return len(a.Items) <= 3 }

// Activities shows the activities that have all words of the search in what is said of them.
func Activities(v *page.Visit) (string, any, error) {
	all, err := page.Get[apiclient.Activities](v, "/activities", nil)
	view := activitiesView{Q: v.Request.URL.Query().Get("q"), All: len(all.Items), Unknown: all.Unknown}
	words := strings.Fields(strings.ToLower(view.Q))
	for i := range all.Items {
		said := strings.ToLower(told(&all.Items[i]))
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(said, w) }) {
			view.Items = append(view.Items, all.Items[i])
		}
	}
	slices.SortStableFunc(view.Items, func(a, b apiclient.Activity) int { // whose name it is comes first
		is := func(x *apiclient.Activity) int {
			if strings.EqualFold(x.Name, view.Q) || strings.EqualFold(x.Type, view.Q) {
				return 0
			}
			return 1
		}
		return cmp.Compare(is(&a), is(&b))
	})
	return "Activities", &view, err
}

// told is all that is said of an activity.
func told(a *apiclient.Activity) string {
	said := []string{a.Name, a.Type, a.Description}
	for _, in := range a.Inputs {
		said = append(said, in.Name, in.Description)
	}
	for _, out := range a.Outputs {
		said = append(said, out.Name, out.Description)
	}
	return strings.Join(append(append(said, a.Outcomes...), a.Branches...), "\n")
}
