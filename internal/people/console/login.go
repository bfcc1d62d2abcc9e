package console

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/weft-run/weft/internal/auth"
)

// loginAt is the address at which one signs in at the provider, "" if there is none.
func (d *desk) loginAt(next string) string {
	if d.oidc == nil || !d.oidc.Browsers() {
		return ""
	}
	return Path + "login?next=" + url.QueryEscape(next)
}

// maxNext bounds the address that somebody goes back to: it is in a cookie.
const maxNext = 300

// login sends somebody to the provider.
func (d *desk) login(w http.ResponseWriter, r *http.Request) {
	v := d.site.visit(w, r)
	if d.loginAt("") == "" {
		v.fail("", &problem{Status: http.StatusNotFound, Title: "No such page"})
		return
	}
	next := local(r.URL.Query().Get("next"))
	if len(next) > maxNext {
		next = Path
	}
	address, begun, err := d.oidc.Begin(d.comeBack(r))
	if err != nil {
		d.notSignedIn(v, next, err)
		return
	}
	text, err := d.sessions.sealLogin(begun, next)
	if err != nil {
		v.fail("", err)
		return
	}
	http.SetCookie(w, cookie(auth.LoginCookie, text, int(loginLife.Seconds())))
	http.Redirect(w, r, address, http.StatusSeeOther)
}

// callback takes somebody back from the provider, and begins a session.
func (d *desk) callback(w http.ResponseWriter, r *http.Request) {
	v := d.site.visit(w, r)
	if d.loginAt("") == "" {
		v.fail("", &problem{Status: http.StatusNotFound, Title: "No such page"})
		return
	}
	var begun login
	kept, err := r.Cookie(auth.LoginCookie)
	if err == nil {
		begun, err = d.sessions.openLogin(kept.Value)
	}
	query := r.URL.Query()
	switch {
	case err != nil || d.site.cfg.now().Sub(begun.Made) > loginLife:
		err = &auth.RefusedError{Reason: "this sign-in was not begun in this browser, or too long ago; begin again"}
	case query.Get("state") != begun.State:
		err = &auth.RefusedError{Reason: "the answer is to another sign-in; begin again"}
	default:
		// It is used once. An answer to another leaves it: any page can send a browser here.
		http.SetCookie(w, cookie(auth.LoginCookie, "", -1))
		if said := query.Get("error"); said != "" {
			err = &auth.RefusedError{Reason: "the provider says: " + short(200, said+" "+query.Get("error_description"))}
		}
	}
	if err != nil {
		d.notSignedIn(v, Path, err)
		return
	}
	next := local(begun.Next)
	p, err := d.oidc.Finish(r.Context(), begun.Login, d.comeBack(r), query.Get("code"))
	if err == nil && p.Role < auth.Viewer {
		err = &auth.RefusedError{Reason: "the provider knows you as " + strings.TrimPrefix(p.Name, "oidc:") + ", and gives you no role here"}
	}
	if err != nil {
		d.notSignedIn(v, next, err)
		return
	}
	if err := d.sessions.enter(w, session{Who: &who{Name: p.Name, Role: p.Role}}, p.Name); err != nil {
		v.fail("", err)
		return
	}
	d.site.cfg.log.InfoContext(r.Context(), "console: signed in", slog.String("who", p.Name), slog.String("role", p.Role.String()), slog.String("remote", r.RemoteAddr))
	v.redirect(next, "signed-in")
}

// notSignedIn says why the provider's way led nowhere.
func (d *desk) notSignedIn(v *visit, next string, err error) {
	if now := d.site.cfg.now().Unix(); d.line.Swap(now) != now {
		d.site.cfg.log.WarnContext(v.r.Context(), "console: sign-in refused", slog.Any("error", err), slog.String("remote", v.r.RemoteAddr))
	}
	view := signInView{Next: next, NoKeys: d.keys == nil, Login: d.loginAt(next), Wrong: "the provider cannot be asked now; try again"}
	status := http.StatusServiceUnavailable
	var refused *auth.RefusedError
	if errors.As(err, &refused) {
		view.Wrong, status = refused.Reason, http.StatusUnauthorized
	}
	v.render(status, "signin", page{Title: "Sign in", View: view})
}

// comeBack is the address that the provider sends people back to; it has to be registered there.
func (d *desk) comeBack(r *http.Request) string {
	base := strings.TrimSuffix(d.url, "/")
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
	return base + Path + "callback"
}
