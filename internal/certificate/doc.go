// Package certificate reads the certificates that a node shows and those that it trusts.
//
// It guarantees that a renewed certificate counts without a restart, and that files that
// are empty, cut or do not fit leave the one from before. It does not judge who the
// certificate is for, nor whether it has expired: the other side does.
package certificate
