// Package remote has the commands of weft that ask a cluster through its HTTP API, with
// pkg/apiclient, and those that only look at files: a package for each family, over one ask.Asker.
package remote
