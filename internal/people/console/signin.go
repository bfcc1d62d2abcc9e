package console

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync/atomic"

	"github.com/weft-run/weft/internal/auth"
)

// maxKept bounds, in bytes, the form of somebody who is not known.
const maxKept = 64 << 10

// desk is where people sign in and out.
type desk struct {
	site     *site
	sessions *sessions
	keys     *auth.Keys
	oidc     *auth.OIDC
	url      string       // under which people reach the cluster; "": what their browser says
	line     atomic.Int64 // in which second the log had a line about a sign-in that was refused
}

// mayKeep is how large a form, in bytes, is kept until its sender signs in: that of somebody
// whose session has ended as any other.
func (d *desk) mayKeep(r *http.Request) int64 {
	if d.sessions.had(r) {
		return maxForm
	}
	return maxKept
}

// signedIn serves those who have a session, and asks the others for one.
func (d *desk) signedIn(serve func(*visit)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := d.site.visit(w, r)
		if !d.site.cfg.open {
			var err error
			v.session, v.who, v.caller, err = d.sessions.begin(w, r)
			var unknown *auth.UnavailableError
			switch {
			case errors.As(err, &unknown):
				w.Header().Set("Retry-After", "1")
				v.fail("", &problem{Status: http.StatusServiceUnavailable, Title: "The node has just started", Detail: "It does not know yet which sessions have ended; open the page again."})
				return
			case err != nil:
				d.askToSignIn(v, err)
				return
			}
		}
		serve(v)
	}
}

// signInView is the page that asks who somebody is.
type signInView struct {
	Next   string  // where to go then
	Wrong  string  // why the key before did not count
	Again  bool    // the key counted and the browser did not keep the session
	NoKeys bool    // the node knows no API keys
	Login  string  // address at which one signs in at a provider; "": there is none
	Form   []field // of what was to be done when the session was over
	Action string
	Lost   bool // what was typed could not be kept
}

// askToSignIn shows the sign-in page instead of a page, and keeps what was typed.
func (d *desk) askToSignIn(v *visit, err error) {
	view := signInView{Next: v.r.URL.RequestURI(), NoKeys: d.keys == nil}
	defer func() {
		view.Login = d.loginAt(view.Next)
		v.render(http.StatusUnauthorized, "signin", page{Title: "Sign in", View: view})
	}()
	var refused *auth.RefusedError
	if errors.As(err, &refused) {
		view.Wrong = refused.Reason
	}
	view.Again = v.r.URL.Query().Get("done") == "signed-in"
	if v.r.Method == http.MethodPost {
		if view.Lost = v.readForm(d.mayKeep(v.r)) != nil; !view.Lost {
			view.Form, view.Action, view.Next = fields(v.r.PostForm), v.r.URL.Path, v.back()
		}
	}
}

// signIn takes an API key and begins a session.
func (d *desk) signIn(w http.ResponseWriter, r *http.Request) {
	v := d.site.visit(w, r)
	view := signInView{Next: Path, NoKeys: d.keys == nil, Login: d.loginAt(Path)}
	if d.site.cfg.open {
		http.Redirect(w, r, Path, http.StatusSeeOther)
		return
	}
	if r.Method == http.MethodGet {
		v.render(http.StatusOK, "signin", page{Title: "Sign in", View: view})
		return
	}
	if view.Lost = v.readForm(d.mayKeep(r)) != nil; view.Lost || view.NoKeys {
		v.render(http.StatusBadRequest, "signin", page{Title: "Sign in", View: view})
		return
	}
	view.Next = local(r.PostForm.Get("next"))
	form := url.Values{}
	for name, values := range r.PostForm {
		if own, ok := strings.CutPrefix(name, "form."); ok {
			form[own] = values
		}
	}
	view.Action = r.PostForm.Get("action")
	if !strings.HasPrefix(view.Action, Path+"do/") {
		form, view.Action = nil, ""
	}
	view.Form = fields(form)
	ticket, who, err := d.keys.SignIn(strings.TrimSpace(r.PostForm.Get("apikey")))
	if err != nil {
		// One line a second at most: a stranger tries as often as he likes.
		if now := d.site.cfg.now().Unix(); d.line.Swap(now) != now {
			d.site.cfg.log.WarnContext(r.Context(), "console: sign-in refused", slog.Any("error", err), slog.String("remote", r.RemoteAddr))
		}
		var refused *auth.RefusedError
		view.Wrong = "the API key does not count"
		if errors.As(err, &refused) {
			view.Wrong = refused.Reason
		}
		v.render(http.StatusUnauthorized, "signin", page{Title: "Sign in", View: view})
		return
	}
	if err := d.sessions.enter(w, session{Ticket: ticket}, who.Name); err != nil {
		v.fail("", err)
		return
	}
	v.who = who
	d.site.cfg.log.InfoContext(r.Context(), "console: signed in", slog.String("who", who.Name), slog.String("role", who.Role.String()), slog.String("remote", r.RemoteAddr))
	if view.Action != "" {
		v.render(http.StatusOK, "again", page{Title: "Signed in", View: againView{Action: view.Action, Back: view.Next, Fields: view.Form}})
		return
	}
	v.redirect(view.Next, "signed-in")
}

// local is a page of the console: no other is gone to.
func local(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(next, Path) || path.Clean(u.Path)+"/" != Path && !strings.HasPrefix(path.Clean(u.Path), Path) || strings.Contains(next, `\`) {
		return Path
	}
	return next
}
