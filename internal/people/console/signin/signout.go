package signin

import (
	"log/slog"
	"net/http"

	"github.com/weft-run/weft/internal/people/console/page"
)

// SignOut ends the session of this browser on every node, or all of its person: then nobody
// who copied a cookie has anything of it.
func (d *Desk) SignOut(w http.ResponseWriter, r *http.Request) {
	v := d.Site.Visit(w, r)
	if err := v.ReadForm(page.MaxKept); err != nil {
		v.Fail("", &page.Problem{Status: http.StatusBadRequest, Title: "The form cannot be read"})
		return
	}
	d.Sessions.Forget(w)
	everywhere := r.PostForm.Get("everywhere") != ""
	if err := d.Sessions.End(r, everywhere); err != nil {
		d.Site.Config.Log.WarnContext(r.Context(), "console: sign-out not told to other nodes", slog.Any("error", err))
		view := signInView{Next: page.Path, NoKeys: d.Keys == nil, Login: d.loginAt(page.Path),
			Wrong: "your browser has forgotten its session, and this node refuses it; etcd did not answer, so other nodes hear of it when it does. If somebody may have copied it, sign in and sign out once more"}
		v.Render(http.StatusServiceUnavailable, "signin", page.Page{Title: "Signed out", View: view})
		return
	}
	http.Redirect(w, r, page.Path+"sign-in", http.StatusSeeOther)
}
