// Package secrets holds the secrets that workflows may read by name, and finds
// their values in what is about to be kept, logged or shown.
//
// Guaranteed: a [Set] finds each of its values in a text: as it is, without the
// white space around it, line by line if it has several of at least 16 bytes, and
// in the forms that it takes on the way out: JSON and Go quoting, URL and HTML
// escaping, base64 at any offset, hexadecimal, all in capitals or all small, as HTTP
// writes methods and hosts. What is found becomes ***NAME***.
// A [Dir] reads a directory with one file per secret, as Docker and Kubernetes
// lay them out, follows changes, and keeps finding the values that a secret had
// before: what was read then may still be on its way.
//
// Not guaranteed: that anything else made from a value is found: a part of it, a
// hash, other changes of case, an encryption. Values of fewer than [MinLength] bytes would
// be found in ordinary text, and values that are not UTF-8 change in JSON, so both
// are refused. A value that is an ordinary word
// is found in ordinary text too: take random ones (weft secret FILE).
//
// A Set is immutable, and nil is one without secrets. Sets and Dirs are safe for
// concurrent use.
package secrets
