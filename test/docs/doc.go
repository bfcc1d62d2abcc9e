// Package docs holds the pages of the project to what they lead to. It has no
// code of its own, only tests: a link leads to a file and a heading that exist,
// what a comment or a page cites by name or number exists,
// an index leads to every page, a page that is made from the code is what the
// code says, and a special word of a page is in the glossary.
package docs
