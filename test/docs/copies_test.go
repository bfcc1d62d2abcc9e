package docs

import (
	"io/fs"
	"os"
	"path"
	"testing"
)

// The Helm chart can read only what is inside of it, so it has copies of the alerts and the dashboards. Who changes
// the ones changes the others: an operator gets the same, whatever it was installed with.
func TestTheChartHasTheFilesOfDeploy(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(root)
	chart := "deploy/helm/weft/files"
	pairs := map[string]string{"deploy/prometheus/alerts.yml": chart + "/alerts.yml"}
	for _, dir := range []string{"deploy/grafana/dashboards", chart + "/dashboards"} {
		entries, err := fs.ReadDir(tree, dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			pairs["deploy/grafana/dashboards/"+e.Name()] = path.Join(chart, "dashboards", e.Name())
		}
	}
	if len(pairs) < 5 {
		t.Fatalf("only %d files", len(pairs))
	}
	for from, to := range pairs {
		a, err := fs.ReadFile(tree, from)
		if err != nil {
			t.Error(err)
			continue
		}
		if b, err := fs.ReadFile(tree, to); err != nil || string(a) != string(b) {
			t.Errorf("%s is not %s: go -C test/deploy generate ./... (%v)", to, from, err)
		}
	}
}
