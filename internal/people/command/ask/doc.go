// Package ask is what all commands that ask a cluster have in common: whom they ask and with which
// credentials, how they show answers, and how they end.
//
// Data goes to standard output, all else to standard error. A table is for people and may
// change; -o json is the API's answer. Nothing is asked of a person without a terminal.
// What changes something carries an Idempotency-Key, and an outcome that is not known is
// told with the line that repeats the command. The exit codes are constants of this package.
package ask
