package signin

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/session"
)

// Desk is where people sign in and out.
type Desk struct {
	Site     *page.Site
	Sessions *session.Sessions
	Keys     *auth.Keys
	OIDC     *auth.OIDC
	URL      string       // under which people reach the cluster; "": what their browser says
	line     atomic.Int64 // in which second the log had a line about a sign-in that was refused
}

// mayKeep is how large a form, in bytes, is kept until its sender signs in: that of somebody
// whose session has ended as any other.
func (d *Desk) mayKeep(r *http.Request) int64 {
	if d.Sessions.Had(r) {
		return page.MaxForm
	}
	return page.MaxKept
}

// SignedIn serves those who have a session, and asks the others for one.
func (d *Desk) SignedIn(serve func(*page.Visit)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := d.Site.Visit(w, r)
		if !d.Site.Config.Open {
			var err error
			v.Session, v.Who, v.Caller, err = d.Sessions.Begin(w, r)
			var unknown *auth.UnavailableError
			switch {
			case errors.As(err, &unknown):
				w.Header().Set("Retry-After", "1")
				v.Fail("", &page.Problem{Status: http.StatusServiceUnavailable, Title: "The node has just started", Detail: "It does not know yet which sessions have ended; open the page again."})
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
	Next   string       // where to go then
	Wrong  string       // why the key before did not count
	Again  bool         // the key counted and the browser did not keep the session
	NoKeys bool         // the node knows no API keys
	Login  string       // address at which one signs in at a provider; "": there is none
	Form   []page.Field // of what was to be done when the session was over
	Action string
	Lost   bool // what was typed could not be kept
}

// askToSignIn shows the sign-in page instead of a page, and keeps what was typed.
func (d *Desk) askToSignIn(v *page.Visit, err error) {
	view := signInView{Next: v.Request.URL.RequestURI(), NoKeys: d.Keys == nil}
	defer func() {
		view.Login = d.loginAt(view.Next)
		v.Render(http.StatusUnauthorized, "signin", page.Page{Title: "Sign in", View: view})
	}()
	var refused *auth.RefusedError
	if errors.As(err, &refused) {
		view.Wrong = refused.Reason
	}
	view.Again = v.Request.URL.Query().Get("done") == "signed-in"
	if v.Request.Method == http.MethodPost {
		if view.Lost = v.ReadForm(d.mayKeep(v.Request)) != nil; !view.Lost {
			view.Form, view.Action, view.Next = page.Fields(v.Request.PostForm), v.Request.URL.Path, v.Back()
		}
	}
}

// SignIn takes an API key and begins a session.
func (d *Desk) SignIn(w http.ResponseWriter, r *http.Request) {
	v := d.Site.Visit(w, r)
	view := signInView{Next: page.Path, NoKeys: d.Keys == nil, Login: d.loginAt(page.Path)}
	if d.Site.Config.Open {
		http.Redirect(w, r, page.Path, http.StatusSeeOther)
		return
	}
	if r.Method == http.MethodGet {
		v.Render(http.StatusOK, "signin", page.Page{Title: "Sign in", View: view})
		return
	}
	if view.Lost = v.ReadForm(d.mayKeep(r)) != nil; view.Lost || view.NoKeys {
		v.Render(http.StatusBadRequest, "signin", page.Page{Title: "Sign in", View: view})
		return
	}
	view.Next = page.Local(r.PostForm.Get("next"))
	form := url.Values{}
	for name, values := range r.PostForm {
		if own, ok := strings.CutPrefix(name, "form."); ok {
			form[own] = values
		}
	}
	view.Action = r.PostForm.Get("action")
	if !strings.HasPrefix(view.Action, page.Path+"do/") {
		form, view.Action = nil, ""
	}
	view.Form = page.Fields(form)
	ticket, who, err := d.Keys.SignIn(strings.TrimSpace(r.PostForm.Get("apikey")))
	if err != nil {
		// One line a second at most: a stranger tries as often as he likes.
		if now := d.Site.Config.Now().Unix(); d.line.Swap(now) != now {
			d.Site.Config.Log.WarnContext(r.Context(), "console: sign-in refused", slog.Any("error", err), slog.String("remote", r.RemoteAddr))
		}
		var refused *auth.RefusedError
		view.Wrong = "the API key does not count"
		if errors.As(err, &refused) {
			view.Wrong = refused.Reason
		}
		v.Render(http.StatusUnauthorized, "signin", page.Page{Title: "Sign in", View: view})
		return
	}
	if err := d.Sessions.Enter(w, session.Session{Ticket: ticket}, who.Name); err != nil {
		v.Fail("", err)
		return
	}
	v.Who = who
	d.Site.Config.Log.InfoContext(r.Context(), "console: signed in", slog.String("who", who.Name), slog.String("role", who.Role.String()), slog.String("remote", r.RemoteAddr))
	if view.Action != "" {
		v.Render(http.StatusOK, "again", page.Page{Title: "Signed in", View: page.AgainView{Action: view.Action, Back: view.Next, Fields: view.Form}})
		return
	}
	v.Redirect(view.Next, "signed-in")
}
