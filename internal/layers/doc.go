// Package layers holds the floors of the project: which package may import
// which, and how large a thing may be. It has no code of its own, only the test that checks the table.
//
// The rules, and why they are rules:
//
//   - A package imports only from lower floors. What runs one instance must not
//     know who asked for it, and what is kept must not know how it travels; else
//     no part can be read, tested or replaced alone.
//   - Packages of one floor do not import each other. Two that need each other
//     are one package, or there is a third below them that is missing. A parent
//     and its own sub-packages are a family and free among themselves, except
//     that two sub-packages of one parent are strangers.
//   - A floor may have wings: packages that belong together, on steps. There a
//     package imports from lower steps of its own wing. Why a wing exists is in
//     the table; there are no other exceptions.
//   - The machine does not import what stands beside it, internal/authoring and internal/people, and
//     authoring does not import people: pkg/node/full joins them. Who changes the machine has
//     neither in sight, and each can be taken out.
//   - A few are strangers although the floors would let them meet: the HTTP API does
//     not see what is stored.
//   - Every package is in the table and has a package doc. A new package is a
//     decision, so it needs a line here.
//   - Some libraries belong to few packages: the etcd client, its concurrency
//     package, go-retry, and the declaration of metrics.
//   - Names that say nothing are refused: such a package grows by itself.
//
// # Tests
//
// A test inside a package (package x) is that package, and holds the same
// floors; it may also import what is for tests, such as clustertest, which starts
// etcd and knows nothing above pkg/cluster. Code does not. A test beside it (package x_test) is a user of the package
// like any other: it may import siblings and higher floors, which Go itself
// keeps free of cycles, but nothing of floor 7. Which libraries a test uses is
// its own business.
//
// # Limits
//
// What nobody can keep in mind at once is not kept right. A type has at most 60
// methods, together with those that embedded types give it and with the functions whose first parameter
// it is, which are methods by another form; a package has at most 2,500 lines, without tests. What is
// larger stands in a table of targets: a number that may only fall, and a day. An interface has at
// least two implementations in the product: a reader of a call through it wants to
// know what is called. Each exception to that has its reason in a table, and fails the test
// when nothing needs it any more. Functions have their limits in .golangci.yml.
// A folder with tests has what they test.
//
// # The page
//
// The floors in docs/packages.md are written from the table and from the
// imports; after a change of either run
//
//	go generate ./internal/layers
package layers

//go:generate go test -run TestPageHasTheFloors -count=1 -update .
