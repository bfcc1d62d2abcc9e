package remote_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// before is a server that lets something happen before the first request of a kind reaches the
// shared one.
func before(t *testing.T, is func(*http.Request) bool, do func()) string {
	t.Helper()
	target, err := url.Parse(sharedServer(t))
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	to := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if is(r) {
			once.Do(do)
		}
		to.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func publishes(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/definitions") && r.URL.Query().Get("dryRun") != "true"
}

// What others publish between the check and the publication is not overwritten.
func TestApplyOverwritesNothingThatItHasNotSeen(t *testing.T) {
	t.Parallel()
	u, other := at(t), at(t)
	mine := strings.Replace(fmt.Sprintf(waiting, "seen-two"), "n is", "n was", 1)
	theirs := strings.Replace(fmt.Sprintf(waiting, "seen-two"), "n is", "n will be", 1)
	dir := filepath.Dir(u.file("flows/one.yaml", fmt.Sprintf(waiting, "seen-one")))
	two := u.file("flows/two.yaml", fmt.Sprintf(waiting, "seen-two"))
	apply := func(args ...string) []string {
		return append([]string{"apply", dir, "--columns", "id,outcome", "--no-headers"}, args...)
	}
	u.wants(0, "seen-one  published\nseen-two  published\n", apply()...)
	u.file("flows/one.yaml", strings.Replace(fmt.Sprintf(waiting, "seen-one"), "n is", "n was", 1))
	u.file("flows/two.yaml", mine)
	u.file("flows/zero.yaml", fmt.Sprintf(waiting, "seen-zero"))
	by := before(t, publishes, func() { other.wants(0, "*", "apply", other.file("two.yaml", theirs)) })
	got := u.refuses(3, two+": definition seen-two has version 2 now, and this was made from version 1; others published it since the files were checked: look with weft diff, and apply again (definition-moved)",
		apply("--server", by)...)
	if got.out != "seen-one  published\n" {
		t.Errorf("it did\n%s", got.out)
	}
	u.wants(0, theirs, "definitions", "get", "seen-two")
	u.refuses(3, "definition-not-found", "definitions", "get", "seen-zero")
	u.wants(0, "seen-one   unchanged\nseen-two   published\nseen-zero  published\n", apply()...)
	u.wants(0, mine, "definitions", "get", "seen-two")
}

// What others publish where there was no published version when it was checked, or bring to be
// there, is not overwritten either. A draft, or one that was retracted, is in the way of nothing.
func TestApplyOverwritesNothingThatWasNotThere(t *testing.T) {
	t.Parallel()
	for name, was := range map[string]func(u *user, source string){
		"new": func(*user, string) {},
		"deleted": func(u *user, source string) {
			u.wants(0, "*", "apply", u.file("was.yaml", source))
			u.wants(0, "*", "definitions", "delete", "first-deleted", "--yes")
		},
		"retracted": func(u *user, source string) {
			u.wants(0, "*", "apply", u.file("was.yaml", source))
			u.wants(0, "*", "definitions", "retract", "first-retracted", "--yes")
		},
		"draft": func(u *user, source string) {
			resp, err := http.Post(sharedServer(u.t)+"/api/v1/definitions?publish=false", "application/yaml", strings.NewReader(source))
			if err != nil {
				u.t.Fatal(err)
			}
			if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusCreated {
				u.t.Fatal(resp.Status, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, other := at(t), at(t)
			id := "first-" + name
			source := func(verb string) string { return strings.Replace(fmt.Sprintf(waiting, id), "n is", "n "+verb, 1) }
			was(u, source("is"))
			file := u.file("mine.yaml", source("was"))
			apply := []string{"apply", file, "--columns", "id,outcome", "--no-headers"}
			by := before(t, publishes, func() { other.wants(0, "*", "apply", other.file("theirs.yaml", source("will be"))) })
			u.refuses(3, "others published it since the files were checked: look with weft diff, and apply again (definition-moved)", append(apply, "--server", by)...)
			u.wants(0, source("will be"), "definitions", "get", id)
			u.wants(0, id+"  published\n", apply...)
			u.wants(0, source("was"), "definitions", "get", id)
		})
	}
}

// A version that a definition gets as it follows what it uses is nobody's work: one apply
// publishes both.
func TestApplyPublishesWhatIsUsedAndItsUser(t *testing.T) {
	t.Parallel()
	u := at(t)
	const user = "id: used-by\nroot:\n  - workflow: used\n"
	used := func(line string) string {
		return "id: used\noptions: {usableAsActivity: true, autoUpdate: true}\nroot:\n  - writeLine: " + line + "\n"
	}
	dir := filepath.Dir(u.file("flows/a.yaml", used("one")))
	apply := []string{"apply", dir, "--columns", "id,outcome", "--no-headers"}
	u.wants(0, "used  published\n", apply...)
	u.file("flows/b.yaml", user)
	u.wants(0, "used     unchanged\nused-by  published\n", apply...)
	u.file("flows/a.yaml", used("two"))
	u.file("flows/b.yaml", user+"  - writeLine: more\n")
	u.wants(0, "used     published\nused-by  published\n", apply...)
	u.wants(0, "3\n", "definitions", "list", "--all", "--jq", `.items[] | select(.id == "used-by") | .version`)
}

// What others publish between the list and the deletion is not deleted.
func TestPruneDeletesNothingThatItHasNotSeen(t *testing.T) {
	t.Parallel()
	u, other := at(t), at(t)
	theirs := strings.Replace(fmt.Sprintf(waiting, "kept-two"), "n is", "n will be", 1)
	dir := filepath.Dir(u.file("flows/one.yaml", fmt.Sprintf(waiting, "kept-one")))
	two := u.file("flows/two.yaml", fmt.Sprintf(waiting, "kept-two"))
	apply := func(args ...string) []string {
		return append([]string{"apply", dir, "--set", "kept", "--columns", "id,outcome", "--no-headers"}, args...)
	}
	u.wants(0, "kept-one  published\nkept-two  published\n", apply()...)
	if err := os.Remove(two); err != nil {
		t.Fatal(err)
	}
	by := before(t, func(r *http.Request) bool { return r.Method == http.MethodDelete }, func() {
		other.wants(0, "*", "apply", other.file("two.yaml", theirs), "--set", "kept")
	})
	got := u.wants(3, "*", apply("--prune", "--yes", "--server", by)...)
	if want := "kept-two  kept: definition kept-two has version 2 now, and version 1 was to be deleted (definition-moved)\n"; !strings.HasSuffix(got.out, want) || got.err != "" {
		t.Errorf("it did\n%s%s", got.out, got.err)
	}
	u.wants(0, theirs, "definitions", "get", "kept-two")
	u.wants(0, "kept-one  unchanged\nkept-two  deleted\n", apply("--prune", "--yes")...)
}

// A definition that is to be deleted, and gets a new version as the same apply publishes what it
// uses, is deleted all the same.
func TestPruneDeletesWhatFollowedTheSameApply(t *testing.T) {
	t.Parallel()
	u := at(t)
	used := func(line string) string {
		return "id: prune-used\noptions: {usableAsActivity: true, autoUpdate: true}\nroot:\n  - writeLine: " + line + "\n"
	}
	dir := filepath.Dir(u.file("flows/a.yaml", used("one")))
	user := u.file("flows/b.yaml", "id: prune-user\nroot:\n  - workflow: prune-used\n")
	apply := []string{"apply", dir, "--set", "followed", "--columns", "id,outcome", "--no-headers"}
	u.wants(0, "prune-used  published\n", "apply", filepath.Join(dir, "a.yaml"), "--set", "followed", "--columns", "id,outcome", "--no-headers")
	u.wants(0, "prune-used  unchanged\nprune-user  published\n", apply...)
	if err := os.Remove(user); err != nil {
		t.Fatal(err)
	}
	u.file("flows/a.yaml", used("two"))
	u.wants(0, "prune-used  published\nprune-user  deleted\n", append(apply, "--prune", "--yes")...)
}

// Files of one call are looked at together: they may run each other though none is there yet, what one gives another is
// held against the file, and not against what is published, and a file's name counts as the id of a definition without.
func TestFilesOfOneCallAreLookedAtTogether(t *testing.T) {
	t.Parallel()
	u := at(t)
	dir := filepath.Dir(u.file("set/a.yaml", "id: together-a\nroot:\n  - executeWorkflow: {workflowDefinitionId: together-b, input: {n: 1}}\n"))
	u.file("set/b.yaml", "id: together-b\ninputs: {n: integer}\nroot:\n  - executeWorkflow: together-c\n")
	u.file("set/together-c.yaml", "root:\n  - if: {condition: \"${{ now().Year() > 3000 }}\", then: [{dispatchWorkflow: {workflowDefinitionId: together-a}}]}\n")
	u.wants(0, "ok: 3 valid\n", "validate", "--strict", dir)
	u.wants(0, "ok: 3 valid\n", "validate", "--strict", dir, "--server", sharedServer(t))
	u.wants(0, "together-a  published\ntogether-b  published\ntogether-c  published\n", "apply", "--strict", dir, "--columns", "id,outcome", "--no-headers")
	u.wants(0, "together-a  unchanged\ntogether-b  unchanged\ntogether-c  unchanged\n", "apply", "--strict", dir, "--columns", "id,outcome", "--no-headers")
	// Both sides of an interface change at once.
	u.file("set/a.yaml", "id: together-a\nroot:\n  - executeWorkflow: {workflowDefinitionId: together-b, input: {m: 1}}\n")
	u.file("set/b.yaml", "id: together-b\ninputs: {m: integer}\nroot:\n  - executeWorkflow: together-c\n")
	u.wants(0, "*", "apply", "--strict", dir)
	u.file("set/a.yaml", "id: together-a\nroot:\n  - executeWorkflow: {workflowDefinitionId: together-b, input: {mm: 1}}\n")
	u.refuses(3, "gives together-b the input mm, which it does not declare", "apply", "--strict", dir)
	u.file("set/a.yaml", "id: together-a\nroot:\n  - executeWorkflow: {workflowDefinitionId: together-d}\n")
	u.refuses(3, "there is no published definition together-d yet", "apply", "--strict", dir)
	u.file("set/a.yaml", "id: together-a\nroot:\n  - executeWorkflow: together-b\n")
	u.file("set/together-c.yaml", "root:\n  - executeWorkflow: together-a\n")
	u.refuses(3, "starts together-b, which starts together-c, which starts together-a again", "apply", "--strict", dir)
}

// A definition that another file of the call uses as an activity comes first, also if nothing of it is there yet, and
// wherever it stands: by the id of its version, by its id or by its name. What is wrong beside that is told before anything is
// published.
func TestApplyPublishesFirstWhatOthersUse(t *testing.T) {
	t.Parallel()
	u := at(t)
	inner := func(id, activities string) string {
		return strings.Replace(elsaSequence(id, 1, activities), `"name": "`+id+`"`, `"name": "`+id+`", "options": {"usableAsActivity": true}`, 1)
	}
	dir := filepath.Dir(u.file("exports/a.json", elsaSequence("first-outer", 1, `{"type": "FirstMiddle", "version": 1, "id": "y", "workflowDefinitionId": "first-middle", "workflowDefinitionVersionId": "v-first-middle-1"}`)))
	u.file("exports/b.json", inner("first-middle", `{"type": "FirstInner", "version": 1, "id": "x", "workflowDefinitionId": "first-inner"}`))
	u.file("exports/c.json", strings.Replace(inner("first-inner", elsaLine), `"name": "first-inner"`, `"name": "First inner"`, 1))
	bad := u.file("exports/d.json", elsaSequence("first-bad", 1, `{"type": "FirstInner", "version": 1, "id": "x", "workflowDefinitionId": "first-inner"}, {"type": "Acme.None", "version": 1, "id": "z"}`))
	apply := []string{"apply", dir, "--columns", "id,outcome", "--no-headers"}
	if got := u.refuses(3, "nothing was published", apply...); strings.Contains(got.err, "a.json") || !strings.Contains(got.err, "Acme.None") {
		t.Errorf("%s", got.err)
	}
	if err := os.Remove(bad); err != nil {
		t.Fatal(err)
	}
	u.wants(0, "first-inner   would be published\nfirst-middle  would be published\nfirst-outer   would be published\n", append(apply, "--dry-run")...)
	u.wants(0, "first-inner   published\nfirst-middle  published\nfirst-outer   published\n", apply...)
	u.wants(0, "first-inner   unchanged\nfirst-middle  unchanged\nfirst-outer   unchanged\n", apply...)
	if got := u.wants(0, "*", "run", "first-outer", "--id", "first-1"); !strings.Contains(got.out, "first-1") {
		t.Errorf("%s", got.out)
	}
	if got := u.wants(0, "*", "instances", "journal", "first-1"); !strings.Contains(got.out, "hello") {
		t.Errorf("%s", got.out)
	}
}
