// Package upgrade replaces nodes of one program by nodes of another, as people do
// in an upgrade. It builds the program of a commit before this one from the git
// history, and the present one with one more activity type, and runs both on one
// etcd.
//
// The commit before is the newest one whose data has the same format as now, or
// the one that WEFT_UPGRADE_FROM names. Without git history, as in a tarball, the
// tests are skipped, unless WEFT_REQUIRE_TOOLS=1 says that this is a failure. What
// two programs owe each other is also tested in process, by pkg/runtime
// (versions_test.go) and test/chaos, with nothing but Go.
package upgrade
