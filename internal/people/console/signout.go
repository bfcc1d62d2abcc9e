package console

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/weft-run/weft/internal/auth"
)

// signOut ends the session of this browser on every node, or all of its person: then nobody
// who copied a cookie has anything of it.
func (c *Console) signOut(w http.ResponseWriter, r *http.Request) {
	v := &visit{console: c, w: w, r: r}
	if err := v.readForm(maxKept); err != nil {
		v.fail("", &problem{Status: http.StatusBadRequest, Title: "The form cannot be read"})
		return
	}
	c.forget(w)
	everywhere := r.PostForm.Get("everywhere") != ""
	if err := c.end(r, everywhere); err != nil {
		c.cfg.Log.WarnContext(r.Context(), "console: sign-out not told to other nodes", slog.Any("error", err))
		view := signInView{Next: Path, NoKeys: c.cfg.Keys == nil, Login: c.loginAt(Path),
			Wrong: "your browser has forgotten its session, and this node refuses it; etcd did not answer, so other nodes hear of it when it does. If somebody may have copied it, sign in and sign out once more"}
		v.render(http.StatusServiceUnavailable, "signin", page{Title: "Signed out", View: view})
		return
	}
	http.Redirect(w, r, Path+"sign-in", http.StatusSeeOther)
}

// end ends the session that a browser brings. One that has ended by itself, or that is of
// nobody any more, is refused in any case.
func (c *Console) end(r *http.Request, everywhere bool) error {
	s, p := c.brought(r)
	if p == nil {
		return nil
	}
	// It goes on when the browser goes away: it is told only that the session has ended.
	ctx := context.WithoutCancel(r.Context())
	var err error
	if everywhere {
		err = c.cfg.SignOuts.EndAll(ctx, s.known(p.Name), sessionLife)
	}
	// Also then this one by its id: it counts towards how many are kept.
	err = errors.Join(err, c.cfg.SignOuts.End(ctx, s.known(p.Name)))
	c.cfg.Log.InfoContext(ctx, "console: signed out", slog.String("who", p.Name), slog.Bool("everywhere", everywhere), slog.String("remote", r.RemoteAddr))
	return err
}

// brought is the session that a browser brings and whose it is; nil: it brings none that counts.
func (c *Console) brought(r *http.Request) (s session, p *auth.Principal) {
	kept, err := r.Cookie(auth.SessionCookie)
	if err == nil && c.cfg.SignOuts != nil && c.sealer.unseal(kept.Value, forBrowsers, &s) == nil {
		p, _ = c.whose(&s)
	}
	return s, p
}
