// Package promises walks through every order of what can happen in small worlds of promises
// that need more than one instance and its mailbox, which is what test/model has:
//
//   - gates: of those behind one gate (an activation strategy) at most one runs, whatever way
//     back an instance takes: retry, alteration, import over it, restore, another gate.
//   - bodies: under one key one body, of calls that are made again and of requests.
//   - webhooks: at least once is told, across any series of changes.
//
// As there, a request to etcd may be answered, applied without an answer, or come late beside
// the copy that is sent again; each compare is taken away, and a violation has to be found. It is
// no test of the code: that the code has these compares is shown by test/mutants. Left out is what
// test/model has: locks, sessions, mailboxes. An instance has one owner at a time here, and its
// revision stands for the fence.
package promises
