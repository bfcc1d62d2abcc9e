// Package page makes a visit of a request and a page of a view.
//
// What it guarantees: what a page shows is what the HTTP API answers to the person who looks, since
// each [Visit] asks it within the process as that person. A page is sent whole or not at all, loads
// only what this node serves, and holds no goroutine for a browser that does not read or does
// not send. What comes from a page of another site is refused.
//
// What it does not: it knows no page. Which there are, who may see one, and what their views have is
// the business of those who import it.
//
// [Site] is made once for a node, with [New]; [Site.Serve] is around each request, and [Site.Visit]
// makes a visit of it. A page is a function of a visit, which [Visit.Show] calls: it reads with [Get],
// [Paged] or [Visit.Ask] and gives a view for its template. Who takes a form reads it with
// [Visit.ReadForm] first, and ends with [Visit.Render], [Visit.Redirect] or [Visit.Fail].
package page
