// Package metrics declares every collector of a Weft node: the names, the
// labels and what they mean, in one place.
//
// A caller says what happened, in the words of the domain, such as
// [Metrics.LockAcquired] or [Metrics.Commit], and never touches a vector. The
// collectors go to the registerer given to [New] and nowhere else, so that two
// nodes can live in one process.
//
// # Guarantees
//
//   - Every verb is harmless on a nil *Metrics, so a component that is not
//     measured needs no second path.
//   - Every verb may be called from any goroutine and does not block.
//   - Series whose label values are known beforehand exist at zero from the
//     start, so that a rate sees the first event too.
//   - A closed set of label values is a type, and the page lists its values: a
//     caller cannot count another word by mistake.
//   - No label is unbounded. Label values are constants of the code that calls:
//     a scope, a reason, the type of a registered activity, the pattern of a
//     route. Never an id, never text that came from outside. The one value that
//     a client of the HTTP API chooses freely, the method, is folded to "other"
//     where it is not a standard one.
//
// # What it does not do
//
// It does not check the texts that it is given for labels without a closed set, and
// it keeps no state of its own: what it is told twice it counts twice. It is a leaf:
// of this project it imports the words of pkg/workflow and nothing else, which a
// test holds.
//
// docs/metrics.md is generated from here; after a change run
//
//	go generate ./pkg/metrics
package metrics

//go:generate go test -run TestDocumentationIsCurrent -count=1 -update .
