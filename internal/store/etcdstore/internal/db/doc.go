// Package db sends the requests of Weft's store to etcd, and knows no key: operations,
// compares, transactions, pages of ranges, watches, and how values are encoded.
//
// Guaranteed: a request ends by its deadline; a transaction that fails
// was not applied, unless the error is [ErrUnknown]; what etcd would refuse for its size
// is [ErrTooLarge] before it is sent; what [Encode] writes, [Decode] reads. Not guaranteed:
// that compares are monotone, which is for who chooses them; that a watch tells of each change.
package db
