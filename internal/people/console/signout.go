package console

import (
	"log/slog"
	"net/http"
)

// signOut ends the session of this browser on every node, or all of its person: then nobody
// who copied a cookie has anything of it.
func (d *desk) signOut(w http.ResponseWriter, r *http.Request) {
	v := d.site.visit(w, r)
	if err := v.readForm(maxKept); err != nil {
		v.fail("", &problem{Status: http.StatusBadRequest, Title: "The form cannot be read"})
		return
	}
	d.sessions.forget(w)
	everywhere := r.PostForm.Get("everywhere") != ""
	if err := d.sessions.end(r, everywhere); err != nil {
		d.site.cfg.log.WarnContext(r.Context(), "console: sign-out not told to other nodes", slog.Any("error", err))
		view := signInView{Next: Path, NoKeys: d.keys == nil, Login: d.loginAt(Path),
			Wrong: "your browser has forgotten its session, and this node refuses it; etcd did not answer, so other nodes hear of it when it does. If somebody may have copied it, sign in and sign out once more"}
		v.render(http.StatusServiceUnavailable, "signin", page{Title: "Signed out", View: view})
		return
	}
	http.Redirect(w, r, Path+"sign-in", http.StatusSeeOther)
}
