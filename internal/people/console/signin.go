package console

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/weft-run/weft/internal/auth"
)

// maxKept bounds, in bytes, the form of somebody who is not known.
const maxKept = 64 << 10

// mayKeep is how large a form, in bytes, is kept until its sender signs in: that of somebody
// whose session has ended as any other.
func (c *Console) mayKeep(r *http.Request) int64 {
	if c.hadSession(r) {
		return maxForm
	}
	return maxKept
}

// hadSession tells whether a browser brings a session of this cluster, be it one that has ended.
func (c *Console) hadSession(r *http.Request) bool {
	var was session
	kept, err := r.Cookie(auth.SessionCookie)
	return err == nil && c.sealer.unseal(kept.Value, forBrowsers, &was) == nil
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
func (c *Console) askToSignIn(v *visit, err error) {
	view := signInView{Next: v.r.URL.RequestURI(), NoKeys: c.cfg.Keys == nil}
	defer func() {
		view.Login = c.loginAt(view.Next)
		v.render(http.StatusUnauthorized, "signin", page{Title: "Sign in", View: view})
	}()
	var refused *auth.RefusedError
	if errors.As(err, &refused) {
		view.Wrong = refused.Reason
	}
	view.Again = v.r.URL.Query().Get("done") == "signed-in"
	if v.r.Method == http.MethodPost {
		if view.Lost = v.readForm(c.mayKeep(v.r)) != nil; !view.Lost {
			view.Form, view.Action, view.Next = fields(v.r.PostForm), v.r.URL.Path, v.back()
		}
	}
}

// signIn takes an API key and begins a session.
func (c *Console) signIn(w http.ResponseWriter, r *http.Request) {
	v := &visit{console: c, w: w, r: r}
	view := signInView{Next: Path, NoKeys: c.cfg.Keys == nil, Login: c.loginAt(Path)}
	if c.cfg.Open {
		http.Redirect(w, r, Path, http.StatusSeeOther)
		return
	}
	if r.Method == http.MethodGet {
		v.render(http.StatusOK, "signin", page{Title: "Sign in", View: view})
		return
	}
	if view.Lost = v.readForm(c.mayKeep(r)) != nil; view.Lost || view.NoKeys {
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
	ticket, who, err := c.cfg.Keys.SignIn(strings.TrimSpace(r.PostForm.Get("apikey")))
	if err != nil {
		// One line a second at most: a stranger tries as often as he likes.
		if now := c.cfg.Now().Unix(); c.line.Swap(now) != now {
			c.cfg.Log.WarnContext(r.Context(), "console: sign-in refused", slog.Any("error", err), slog.String("remote", r.RemoteAddr))
		}
		var refused *auth.RefusedError
		view.Wrong = "the API key does not count"
		if errors.As(err, &refused) {
			view.Wrong = refused.Reason
		}
		v.render(http.StatusUnauthorized, "signin", page{Title: "Sign in", View: view})
		return
	}
	if err := c.enter(w, session{Ticket: ticket}, who.Name); err != nil {
		v.fail("", err)
		return
	}
	v.who = who
	c.cfg.Log.InfoContext(r.Context(), "console: signed in", slog.String("who", who.Name), slog.String("role", who.Role.String()), slog.String("remote", r.RemoteAddr))
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
