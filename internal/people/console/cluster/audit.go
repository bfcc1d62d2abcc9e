package cluster

import (
	"net/url"

	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/pkg/apiclient"
)

// auditView is the end of the audit log.
type auditView struct {
	apiclient.Audit

	Filter  map[string]string
	Results []string
	Why     string   // the person may not see it; "": may
	Silent  []string // nodes that keep none
}

// Audit shows who did what. Who may not see it is told so, as with a button.
func Audit(v *page.Visit) (string, any, error) {
	view := auditView{Results: []string{"done", "accepted", "checked", "denied", "failed"}, Why: v.May("listAudit")}
	ask := url.Values{}
	view.Filter = page.Filtered(v.Request.URL.Query(), []string{"who", "operation", "target", "result"}, ask, url.Values{})
	if view.Why != "" {
		return "Audit", view, nil
	}
	var err error
	view.Audit, err = page.Get[apiclient.Audit](v, "/audit", ask)
	for _, n := range view.Nodes {
		if !n.Kept {
			view.Silent = append(view.Silent, n.NodeID)
		}
	}
	return "Audit", view, err
}
