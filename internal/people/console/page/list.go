package page

import (
	"net/url"
	"time"
)

// Rows is how many a page of a list has.
const Rows = "50"

// Few is how many rows the home page has of a list.
var Few = url.Values{"limit": {"10"}}

// List is a page of a list, as the API answers it.
type List[T any] struct {
	Items      []T
	NextCursor *string
	Revision   int64
	Looked     int
	Query      string
	Now        *time.Time
}

// ListView is a page of a list.
type ListView[T any] struct {
	List[T]
	Next   string // address of the next page; "": none
	First  string // of the first one, if this is another
	Filter map[string]string
}

// Paged reads a page of a list of the API; filters are the parameters that go to it.
func Paged[T any](v *Visit, path string, with url.Values, filters ...string) (view ListView[T], err error) {
	query := v.Request.URL.Query()
	ask := url.Values{"limit": {Rows}}
	for name, values := range with {
		ask[name] = values
	}
	own := url.Values{}
	view.Filter = Filtered(query, filters, ask, own)
	if cursor := query.Get("cursor"); cursor != "" {
		ask.Set("cursor", cursor)
		view.First = Address(v.Request.URL.Path, own)
	}
	if view.List, err = Get[List[T]](v, path, ask); err != nil {
		return view, err
	}
	if view.NextCursor != nil {
		own.Set("cursor", *view.NextCursor)
		view.Next = Address(v.Request.URL.Path, own)
	}
	return view, nil
}

// Filtered takes the filters of a page's address into what is asked, and into the addresses of
// its other pages.
func Filtered(query url.Values, filters []string, ask, own url.Values) map[string]string {
	shown := map[string]string{}
	for _, name := range filters {
		shown[name] = query.Get(name)
		if shown[name] != "" {
			ask.Set(name, shown[name])
			own.Set(name, shown[name])
		}
	}
	return shown
}

// Address is a path with a query; without one, the path.
func Address(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// WithParam puts a parameter into an address; "" stays so, and so does one for nothing.
func WithParam(to, name, value string) string {
	u, err := url.Parse(to)
	if to == "" || value == "" || err != nil {
		return to
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// Plain makes the page of a plain list.
func Plain[T any](title, path string, filters ...string) func(*Visit) (string, any, error) {
	return func(v *Visit) (string, any, error) {
		view, err := Paged[T](v, path, nil, filters...)
		return title, view, err
	}
}
