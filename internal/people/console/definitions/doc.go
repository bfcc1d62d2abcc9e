// Package definitions is the pages about definitions: their list, one of them, its versions and tests,
// and the editor.
//
// What it guarantees: a text that somebody wrote is never lost to an answer: what refuses it shows it
// again, with the mistakes beside it. An edit is made in the text by the API, so that what the picture's
// buttons do and what an author types are one text. A button that was made of other cases or states
// than the text has now does nothing.
//
// What it does not: it checks and publishes nothing itself, and keeps no draft.
//
// The pages are functions of a visit, in the console's table of pages; [Amend] and [Tell] are what the
// editor asks for while somebody writes, and package act shows with [CheckedSource], [RefusedSource] and [Tested]
// what became of a form.
package definitions
