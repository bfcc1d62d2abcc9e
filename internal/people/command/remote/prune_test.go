package remote_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestPrune(t *testing.T) {
	t.Parallel()
	u := at(t)
	one := u.file("shop/one.yaml", fmt.Sprintf(waiting, "prune-one"))
	two := u.file("shop/two.yaml", fmt.Sprintf(waiting, "prune-two"))
	busy := u.file("shop/busy.yaml", fmt.Sprintf(waiting, "prune-busy"))
	other := u.file("other/other.yaml", fmt.Sprintf(waiting, "prune-other"))
	free := u.file("free/free.yaml", fmt.Sprintf(waiting, "prune-free"))
	dir := filepath.Dir(one)
	columns := []string{"--columns", "id,outcome", "--no-headers"}
	apply := func(args ...string) []string { return append(append([]string{"apply"}, args...), columns...) }

	// What was applied without a set joins it, without another version.
	u.wants(0, "prune-one  published\n", apply(one)...)
	u.wants(0, "prune-busy  would be published\nprune-one   would join the set\nprune-two   would be published\n", apply(dir, "--set", "prune-shop", "--dry-run")...)
	u.wants(0, "prune-busy  published\nprune-one   joined the set\nprune-two   published\n", apply(dir, "--set", "prune-shop")...)
	u.wants(0, "prune-busy  unchanged\nprune-one   unchanged\nprune-two   unchanged\n", apply(dir, "--set", "prune-shop")...)
	u.wants(0, "prune-other  published\n", apply(other, "--set", "prune-others")...)
	u.wants(0, "prune-free  published\n", apply(free)...)
	u.wants(0, "prune-one prune-shop 1\n", "definitions", "list", "--all", "--jq", `.items[] | select(.id == "prune-one") | "\(.id) \(.set) \(.version)"`)

	// Nothing is deleted that the files have, or that is of another set, or of none.
	u.wants(0, "prune-busy  unchanged\nprune-one   unchanged\nprune-two   unchanged\n", apply(dir, "--set", "prune-shop", "--prune")...)
	u.wants(0, "*", "run", "prune-busy", "--id", "prune-busy-1", "-i", "n=1")
	for _, file := range []string{two, busy} {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	u.wants(0, "prune-one   unchanged\nprune-busy  would be deleted\nprune-two   would be deleted\n", apply(dir, "--set", "prune-shop", "--prune", "--dry-run")...)
	u.refuses(2, "delete prune-busy, prune-two, which the set prune-shop has and the files have not: say --yes", apply(dir, "--set", "prune-shop", "--prune")...)
	u.wants(0, "", "diff", one)
	got := u.wants(3, "*", apply(dir, "--set", "prune-shop", "--prune", "--yes")...)
	if want := "prune-one   unchanged\nprune-busy  kept: instances of definition prune-busy are running; wait for their end, cancel them, or delete with force (definition-in-use)\nprune-two   deleted\n"; got.out[:60] != want[:60] {
		t.Errorf("pruned:\n%s\nwant\n%s", got.out, want)
	}
	u.refuses(3, "definition-not-found", "definitions", "get", "prune-two")
	for _, id := range []string{"prune-busy", "prune-other", "prune-free"} {
		u.wants(0, fmt.Sprintf(waiting, id), "definitions", "get", id)
	}
	u.wants(0, "*", "instances", "cancel", "prune-busy-1", "--yes")
	u.wants(0, "*", "instances", "get", "prune-busy-1", "--wait", "60s")
	u.wants(0, "prune-one   unchanged\nprune-busy  deleted\n", apply(dir, "--set", "prune-shop", "--prune", "--yes")...)
	u.wants(0, "prune-one  unchanged\n", apply(dir, "--set", "prune-shop", "--prune", "--yes")...)

	// One that went to another set is that one's.
	if got := u.wants(0, "prune-one  joined the set\n", apply(one, "--set", "prune-others")...); got.err != one+": prune-one was of the set prune-shop\n" {
		t.Errorf("it says %q", got.err)
	}
	u.refuses(2, "none of the files is of the set prune-others, which has 2 definitions: is it the right directory?", apply(free, "--set", "prune-others", "--prune", "--yes")...)
	u.refuses(2, "say with --set of which", "apply", dir, "--prune")
	u.refuses(2, "--prune takes files and directories", "apply", "-", "--prune", "--set", "x")
	link := filepath.Join(dir, "linked")
	if err := os.Symlink(filepath.Dir(free), link); err != nil {
		t.Fatal(err)
	}
	u.refuses(2, "--prune reads no directory through a link, and would delete what was applied from "+link, "apply", dir, "--prune", "--set", "prune-others", "--yes")
	if got := u.wants(0, "prune-one  unchanged\n", apply(dir)...); got.err != link+": links to directories are not followed; name it too, if it is meant\n" {
		t.Errorf("it says %q", got.err)
	}
	u.wants(0, "prune-free  unchanged\n", apply(link)...)
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	u.refuses(3, "the name of a set", "apply", dir, "--set", "no name")
	if err := os.Remove(one); err != nil {
		t.Fatal(err)
	}
	u.refuses(2, "has no definitions", "apply", dir, "--prune", "--set", "prune-others", "--yes")
	u.wants(0, "*", "definitions", "get", "prune-one")
}
