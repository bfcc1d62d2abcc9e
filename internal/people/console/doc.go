// Package console is the pages on which people look at a cluster and act on it.
//
// What it guarantees: a page shows what the HTTP API answers to the same person, with the
// same roles, the same redaction and the same audit log, since each page asks the API of
// its own node, within the process. What a workflow or a caller wrote is text on it and
// never markup. A form that is sent twice acts once: its Idempotency-Key is in the page.
//
// What it does not: it keeps no state, so what a page shows is as old as the page; and its
// parts are read one after the other, each at the revision of etcd that it names.
//
// [Console] serves the routes; a page is a function from what the API says to a typed view,
// which a template shows. An action is an operation of openapi.json, sent by a form.
//
// To find one's way: screens.go has the table of pages, and console.go joins their rooms. Package page makes
// a visit of a request and a page of a view, and asks the API; shape has its answers. The pages are in
// instances, definitions and cluster; act does what forms ask for. How one signs in is in signin, and
// whose a session is in session.
package console
