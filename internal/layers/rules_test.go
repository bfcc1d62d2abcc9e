package layers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The rules themselves, on packages made up for it: a check that never fails
// would look just like a clean tree.
func TestRules(t *testing.T) {
	t.Parallel()
	const ours = module + "/"
	tests := []struct {
		name     string
		pkg      string
		kind     kind
		imported string
		refused  string // part of the reason; empty when allowed
	}{
		{"a lower floor", "pkg/client", code, ours + "internal/store", ""},
		{"a higher floor", "internal/store", code, ours + "pkg/client", "above floor 1"},
		{"a sibling", "pkg/engine", code, ours + "internal/store", "siblings"},
		{"a sibling of the parent", "internal/store/etcdstore", code, ours + "pkg/cluster", "siblings"},
		{"a sub-package its parent", "internal/store/etcdstore", code, ours + "internal/store", ""},
		{"a parent its sub-package", "pkg/workflow", code, ours + "pkg/workflow/yaml", ""},
		{"two sub-packages of one parent", "pkg/workflow/yaml", code, ours + "pkg/workflow/elsajson", "siblings"},
		{"a lower step of its wing", "pkg/activities", code, ours + "pkg/engine", ""},
		{"not the way back", "pkg/engine", code, ours + "pkg/activities", "siblings"},
		{"the same step of its wing", "internal/expression/js", code, ours + "internal/expression/native", "siblings"},
		{"a lower step of another wing", "pkg/cluster/clustertest", code, ours + "pkg/engine", "siblings"},
		{"a wing from outside", "pkg/cluster", code, ours + "pkg/engine", "siblings"},
		{"a name that only looks like a sub-package", "pkg/workflow", code, ours + "pkg/workflowtest", "above floor 0"},
		{"the API, what is stored", "internal/httpapi", code, ours + "internal/store", "outward contract"},
		{"the API, the store", "internal/httpapi", code, ours + "internal/store/etcdstore", "outward contract"},
		{"a test of the API, the store", "internal/httpapi", externalTest, ours + "internal/store/etcdstore", ""},
		{"the machine, what helps authors", "internal/catalog", code, ours + "internal/authoring/check", "given at wiring"},
		{"the machine, what people see", "pkg/node", code, ours + "internal/people/console", "given at wiring"},
		{"the machine, tests of workflows", "internal/httpapi/define", code, ours + "pkg/workflowtest", "given at wiring"},
		{"authoring, what people see", "internal/authoring/api", code, ours + "internal/people/signout", "given at wiring"},
		{"what people see, authoring", "internal/people/console", code, ours + "internal/authoring/graph", ""},
		{"who wires it", "pkg/node/full", code, ours + "internal/people/console", ""},
		{"a program", "cmd/weft", code, ours + "internal/people/command", ""},
		{"a test of the machine, what helps authors", "internal/catalog", externalTest, ours + "internal/authoring/check", ""},
		{"a package that is in no table", "pkg/client", code, ours + "pkg/secret", "not in the table"},
		{"the standard library", "pkg/workflow", code, "net/http", ""},

		{"a test inside, a sibling", "internal/store/etcdstore", insideTest, ours + "pkg/cluster", "external test"},
		{"a test inside, clustertest", "internal/store/etcdstore", insideTest, ours + "pkg/cluster/clustertest", ""},
		{"code, clustertest", "internal/store/etcdstore", code, ours + "pkg/cluster/clustertest", "for tests"},
		{"code, a helper of tests on a lower floor", "pkg/node", code, ours + "internal/polltest", "for tests"},
		{"a test inside, a helper of tests on its own floor", "internal/keylock", insideTest, ours + "internal/polltest", ""},
		{"a helper of tests, another", "internal/expression/expressiontest", code, ours + "internal/polltest", ""},
		{"a test beside, a sibling", "internal/store/etcdstore", externalTest, ours + "pkg/cluster", ""},
		{"a test beside, its own package", "pkg/metrics", externalTest, ours + "pkg/metrics", ""},
		{"a test beside, a higher floor", "pkg/client", externalTest, ours + "pkg/node", ""},
		{"a test beside, floor 7", "pkg/client", externalTest, ours + "test/e2e", "above floor 3"},

		{"etcd in the store", "internal/store/etcdstore", code, "go.etcd.io/etcd/client/v3", ""},
		{"etcd in what dials", "internal/etcd", code, "go.etcd.io/etcd/server/v3/embed", ""},
		{"etcd in node", "pkg/node", code, "go.etcd.io/etcd/server/v3/embed", "internal/etcd dials"},
		{"etcd in the client", "pkg/client", code, "go.etcd.io/etcd/client/v3", "pkg/cluster and internal/store"},
		{"etcd in a test of the client", "pkg/client", insideTest, "go.etcd.io/etcd/client/v3", ""},
		{"the mutex in cluster", "pkg/cluster", code, "go.etcd.io/etcd/client/v3/concurrency", ""},
		{"the mutex in the store", "internal/store/etcdstore", code, "go.etcd.io/etcd/client/v3/concurrency", "re-entrant"},
		{"retries in the leaf for them", "internal/pace", code, "github.com/sethvargo/go-retry", ""},
		{"retries in the runtime", "pkg/runtime", code, "github.com/sethvargo/go-retry", "internal/pace"},
		{"promhttp in the API", "internal/httpapi", code, "github.com/prometheus/client_golang/prometheus/promhttp", ""},
		{"promauto in metrics", "pkg/metrics", code, "github.com/prometheus/client_golang/prometheus/promauto", "global"},
		{"OpenTelemetry in the engine", "pkg/engine", code, "go.opentelemetry.io/otel/trace", "internal/tracing"},
		{"prometheus in the engine", "pkg/engine", code, "github.com/prometheus/client_golang/prometheus", "say what happened"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := refuse(tt.pkg, tt.kind, tt.imported)
			if tt.refused == "" && got != "" {
				t.Errorf("refused: %s", got)
			}
			if tt.refused != "" && !strings.Contains(got, tt.refused) {
				t.Errorf("reason %q, want one with %q", got, tt.refused)
			}
		})
	}
}

// tree writes files for a check, and gives their root.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// finds fails a test of a check that does not say just what it should.
func finds(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTreeIsReadAsItIs(t *testing.T) {
	t.Parallel()
	got := check(readTree(t, tree(t, map[string]string{
		"internal/store/store.go":        "// Package store keeps.\npackage store\n",
		"internal/store/store_test.go":   "package store\n\nimport _ \"github.com/weft-run/weft/pkg/node\"\n",
		"internal/store/outside_test.go": "package store_test\n\nimport _ \"github.com/weft-run/weft/pkg/node\"\n",
		"pkg/node/node.go":               "package node\n\nimport p \"github.com/prometheus/client_golang/prometheus\"\n\nvar c = p.NewCounter(p.CounterOpts{})\n",
		"pkg/node/testdata/x.go":         "not Go\n",
		"pkg/runtime/runtime_test.go":    "package runtime_test\n\nimport _ \"github.com/weft-run/weft/pkg/runtime\"\n",
		"pkg/util/util.go":               "// Package util is all sorts.\npackage util\n",
		"pkg/client/hidden_windows.go":   "// Package client is hidden by a build tag.\npackage client\n\nimport _ \"github.com/weft-run/weft/pkg/runtime\"\n",
		"tools/go.mod":                   "module tools\n",
		"tools/tools.go":                 "package tools\n",
		".hidden/x.go":                   "not Go\n",
	})))
	want := []string{
		"internal/store/store_test.go:3: internal/store must not import github.com/weft-run/weft/pkg/node",
		"pkg/client/hidden_windows.go:4: pkg/client must not import github.com/weft-run/weft/pkg/runtime: it is on floor 4, above floor 3",
		"pkg/node has no package doc",
		"pkg/node/node.go:5: pkg/node declares a metric with prometheus.NewCounter",
		"pkg/runtime has tests and no code",
		"pkg/util is not in the table",
		"pkg/util: the name \"util\" says nothing",
	}
	if len(got) != len(want) {
		t.Fatalf("got %d problems:\n%s", len(got), strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("problem %d is\n\t%s\nwant\n\t%s", i, got[i], want[i])
		}
	}
}

// A wing without a reason, or a step outside of one, would be an exception that
// nobody has to give a reason for.
func TestWingsHaveReasons(t *testing.T) {
	t.Parallel()
	used := map[string]bool{"": true}
	for name, at := range table {
		if used[at.wing] = true; at.wing != "" && wings[at.wing] == "" || at.wing == "" && at.step != 0 {
			t.Errorf("%s stands on step %d of the wing %q, which is not in the list of wings", name, at.step, at.wing)
		}
	}
	for wing := range wings {
		if !used[wing] {
			t.Errorf("no package is in the wing %q", wing)
		}
	}
}
