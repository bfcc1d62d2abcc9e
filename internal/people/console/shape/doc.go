// Package shape has the answers of the API as the pages need them.
//
// What it guarantees: its types have the names of the API's own fields, and no more than the pages of the
// console show.
//
// What it does not: it checks nothing, and what no page shows is not here. What only one page reads is
// with that page.
package shape
