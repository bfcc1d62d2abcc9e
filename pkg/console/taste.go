package console

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// What a browser keeps of how its person wants pages to look. Nothing of it is secret.
const (
	themeCookie = "weft-theme"
	zoneCookie  = "weft-zone"
	tasteLasts  = 365 * 24 * 3600 // seconds
)

// theme keeps whether pages are light or dark; neither: as the system is.
func (c *Console) theme(w http.ResponseWriter, r *http.Request) {
	c.taste(w, r, themeCookie, func(chosen string) (string, error) {
		if chosen != "light" && chosen != "dark" {
			chosen = ""
		}
		return chosen, nil
	}, "theme")
}

// zoned keeps the zone in which pages show times; none: UTC.
func (c *Console) zoned(w http.ResponseWriter, r *http.Request) {
	c.taste(w, r, zoneCookie, func(chosen string) (string, error) {
		chosen = strings.TrimSpace(chosen)
		_, err := location(chosen)
		return chosen, err
	}, "zone")
}

// taste keeps what a form chose, or forgets what was chosen before.
func (c *Console) taste(w http.ResponseWriter, r *http.Request, cookie string, read func(string) (string, error), field string) {
	v := &visit{console: c, w: w, r: r}
	if err := v.readForm(maxKept); err != nil {
		v.fail("", &problem{Status: http.StatusBadRequest, Title: "The form cannot be read"})
		return
	}
	var last string // a button that was pressed stands behind the field of its name
	if all := r.PostForm[field]; len(all) > 0 {
		last = all[len(all)-1]
	}
	chosen, err := read(last)
	if err != nil {
		v.fail("me", &problem{Status: http.StatusUnprocessableEntity, Title: "That cannot be chosen", Detail: err.Error()})
		return
	}
	age := tasteLasts
	if chosen == "" {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: chosen, Path: Path, MaxAge: age, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, v.back(), http.StatusSeeOther)
}

// location finds a zone by its name in the IANA database; empty is UTC.
func location(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == time.Local.String() { // that would be the node's
		return time.UTC, errors.New("there is no time zone of this name; they are called as in Europe/Berlin, or UTC")
	}
	return zone, nil
}

// zone is that in which a page shows times.
func (v *visit) zone() *time.Location {
	zone := time.UTC
	if kept, err := v.r.Cookie(zoneCookie); err == nil {
		zone, _ = location(kept.Value)
	}
	return zone
}
