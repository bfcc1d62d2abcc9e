package page

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// What a browser keeps of how its person wants pages to look. Nothing of it is secret.
const (
	themeCookie   = "weft-theme"
	zoneCookie    = "weft-zone"
	ColumnsCookie = "weft-columns"
	tasteLasts    = 365 * 24 * 3600 // seconds
)

// Theme keeps whether pages are light or dark; neither: as the system is.
func Theme(v *Visit) {
	v.Taste(themeCookie, func() (string, error) {
		chosen := v.pressed("theme")
		if chosen != "light" && chosen != "dark" {
			chosen = ""
		}
		return chosen, nil
	}, nil)
}

// Zoned keeps the zone in which pages show times; none: UTC.
func Zoned(v *Visit) {
	v.Taste(zoneCookie, func() (string, error) {
		chosen := strings.TrimSpace(v.pressed("zone"))
		_, err := location(chosen)
		return chosen, err
	}, nil)
}

// pressed is the last value of a field: a button that was pressed stands behind the field of its name.
func (v *Visit) pressed(field string) string {
	all := v.Request.PostForm[field]
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// Taste keeps what a form chose, or forgets what was chosen before, and shows the page that to makes of
// it; nil: that which the form stood on.
func (v *Visit) Taste(cookie string, read func() (string, error), to func(chosen string) string) {
	if err := v.ReadForm(MaxKept); err != nil {
		v.Fail("", &Problem{Status: http.StatusBadRequest, Title: "The form cannot be read"})
		return
	}
	chosen, err := read()
	if err != nil {
		v.Fail("me", &Problem{Status: http.StatusUnprocessableEntity, Title: "That cannot be chosen", Detail: err.Error()})
		return
	}
	age := tasteLasts
	if chosen == "" {
		age = -1
	}
	http.SetCookie(v.Writer, &http.Cookie{Name: cookie, Value: chosen, Path: Path, MaxAge: age, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	next := v.Back()
	if to != nil {
		next = to(chosen)
	}
	http.Redirect(v.Writer, v.Request, next, http.StatusSeeOther)
}

// location finds a zone by its name in the IANA database; empty is UTC.
func location(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" { // that would be the node's
		return time.UTC, errors.New("there is no time zone of this name; they are called as in Europe/Berlin, or UTC")
	}
	return zone, nil
}

// Zone is that in which a page shows times.
func (v *Visit) Zone() *time.Location {
	zone := time.UTC
	if kept, err := v.Request.Cookie(zoneCookie); err == nil {
		zone, _ = location(kept.Value)
	}
	return zone
}
