// Package console tests the pages of the console on a real node, without a browser: each
// page with nothing, with much and with hostile data, for each role.
package console
