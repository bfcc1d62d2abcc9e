package signin

import (
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/session"
)

type meView struct {
	Open  bool // nobody is asked who it is
	Zone  string
	How   string    // of the sign-in
	Began time.Time // the session
	Ends  time.Time // at the latest
	Idle  time.Duration
	Roles []roleView
}

// roleView is what a role may do, beside what those before it may.
type roleView struct {
	auth.Role
	May  string
	Mine bool // the person who looks has it
}

// Me shows who looks, and what each role may do.
func Me(v *page.Visit) (string, any, error) {
	view := meView{Open: v.Open(), Zone: v.Zone().String(), Idle: session.Idle}
	if v.Who == nil {
		return "Me", view, nil
	}
	view.How, view.Began, view.Ends = "an API key", v.Session.Made, v.Session.Made.Add(v.Session.Life())
	if v.Session.Who != nil {
		view.How = "your organization's provider"
	}
	for _, r := range []roleView{
		{Role: auth.Business, May: "see and decide what they are asked, under For me"},
		{Role: auth.Viewer, May: "look at everything but what events bring"},
		{Role: auth.Operator, May: "start, cancel and retry instances, send events, complete tasks, work dead letters and the queue"},
		{Role: auth.Designer, May: "publish and retract definitions"},
		{Role: auth.Admin, May: "pause the cluster, drain nodes, change states, see the audit log"},
	} {
		r.Mine = v.Who.Role >= r.Role
		view.Roles = append(view.Roles, r)
	}
	return "Me", view, nil
}
