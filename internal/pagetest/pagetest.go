// Package pagetest holds generated files to what they are generated from.
//
// A package has a test that makes a file's text and calls [Current], and a
// directive for go generate that runs this test with -update.
package pagetest

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write generated files instead of comparing them")

// Current fails the test if the file does not have this text. With -update it writes
// the file.
func Current(t testing.TB, file, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s is stale (%v); run go generate in this folder", file, err)
	}
}
