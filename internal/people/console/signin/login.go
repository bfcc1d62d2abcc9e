package signin

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/session"
)

// loginAt is the address at which one signs in at the provider, "" if there is none.
func (d *Desk) loginAt(next string) string {
	if d.OIDC == nil || !d.OIDC.Browsers() {
		return ""
	}
	return page.Path + "login?next=" + url.QueryEscape(next)
}

// maxNext bounds the address that somebody goes back to: it is in a cookie.
const maxNext = 300

// Login sends somebody to the provider.
func (d *Desk) Login(w http.ResponseWriter, r *http.Request) {
	v := d.Site.Visit(w, r)
	if d.loginAt("") == "" {
		v.Fail("", &page.Problem{Status: http.StatusNotFound, Title: "No such page"})
		return
	}
	next := page.Local(r.URL.Query().Get("next"))
	if len(next) > maxNext {
		next = page.Path
	}
	address, begun, err := d.OIDC.Begin(d.comeBack(r))
	if err != nil {
		d.notSignedIn(v, next, err)
		return
	}
	text, err := d.Sessions.SealLogin(begun, next)
	if err != nil {
		v.Fail("", err)
		return
	}
	http.SetCookie(w, session.Cookie(auth.LoginCookie, text, int(session.LoginLife.Seconds())))
	http.Redirect(w, r, address, http.StatusSeeOther)
}

// Callback takes somebody back from the provider, and begins a session.
func (d *Desk) Callback(w http.ResponseWriter, r *http.Request) {
	v := d.Site.Visit(w, r)
	if d.loginAt("") == "" {
		v.Fail("", &page.Problem{Status: http.StatusNotFound, Title: "No such page"})
		return
	}
	var begun session.Login
	kept, err := r.Cookie(auth.LoginCookie)
	if err == nil {
		begun, err = d.Sessions.OpenLogin(kept.Value)
	}
	query := r.URL.Query()
	switch {
	case err != nil || d.Site.Config.Now().Sub(begun.Made) > session.LoginLife:
		err = &auth.RefusedError{Reason: "this sign-in was not begun in this browser, or too long ago; begin again"}
	case query.Get("state") != begun.State:
		err = &auth.RefusedError{Reason: "the answer is to another sign-in; begin again"}
	default:
		// It is used once. An answer to another leaves it: any page can send a browser here.
		http.SetCookie(w, session.Cookie(auth.LoginCookie, "", -1))
		if said := query.Get("error"); said != "" {
			err = &auth.RefusedError{Reason: "the provider says: " + page.Short(200, said+" "+query.Get("error_description"))}
		}
	}
	if err != nil {
		d.notSignedIn(v, page.Path, err)
		return
	}
	next := page.Local(begun.Next)
	p, err := d.OIDC.Finish(r.Context(), begun.Login, d.comeBack(r), query.Get("code"))
	if err == nil && p.Role < auth.Business {
		err = &auth.RefusedError{Reason: "the provider knows you as " + strings.TrimPrefix(p.Name, "oidc:") + ", and gives you no role here"}
	}
	if err != nil {
		d.notSignedIn(v, next, err)
		return
	}
	if err := d.Sessions.Enter(w, session.Session{Who: session.WhoOf(p)}, p.Name); err != nil {
		v.Fail("", err)
		return
	}
	d.Site.Config.Log.InfoContext(r.Context(), "console: signed in", slog.String("who", p.Name), slog.String("role", p.Role.String()), slog.String("remote", r.RemoteAddr))
	v.Redirect(next, "signed-in")
}

// notSignedIn says why the provider's way led nowhere.
func (d *Desk) notSignedIn(v *page.Visit, next string, err error) {
	if now := d.Site.Config.Now().Unix(); d.line.Swap(now) != now {
		d.Site.Config.Log.WarnContext(v.Request.Context(), "console: sign-in refused", slog.Any("error", err), slog.String("remote", v.Request.RemoteAddr))
	}
	view := signInView{Next: next, NoKeys: d.Keys == nil, Login: d.loginAt(next), Wrong: "the provider cannot be asked now; try again"}
	status := http.StatusServiceUnavailable
	var refused *auth.RefusedError
	if errors.As(err, &refused) {
		view.Wrong, status = refused.Reason, http.StatusUnauthorized
	}
	v.Render(status, "signin", page.Page{Title: "Sign in", View: view})
}

// comeBack is the address that the provider sends people back to; it has to be registered there.
func (d *Desk) comeBack(r *http.Request) string {
	base := strings.TrimSuffix(d.URL, "/")
	if base == "" {
		scheme, host := "https", r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if ip := net.ParseIP(host); r.TLS == nil && (host == "localhost" || ip.IsLoopback()) {
			scheme = "http"
		}
		base = scheme + "://" + r.Host
	}
	return base + page.Path + "callback"
}
