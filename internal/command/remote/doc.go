// Package remote has the commands of weft that ask a cluster through its HTTP API, with
// pkg/apiclient, and those that only look at files.
//
// Data goes to standard output, all else to standard error. A table is for people and may
// change; -o json is the API's answer. Nothing is asked of a person without a terminal.
// What changes something carries an Idempotency-Key, and an outcome that is not known is
// told with the line that repeats the command. The exit codes are constants of this package.
package remote
