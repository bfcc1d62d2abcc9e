package deploy_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func TestPromtoolAcceptsConfigurationAndRules(t *testing.T) {
	t.Parallel()
	promtool := tool(t, "promtool", "prometheus")
	dir := filepath.Join(root, "deploy/prometheus")
	run(t, dir, promtool, "check", "config", "prometheus.yml")
	run(t, dir, promtool, "check", "rules", "--lint=all", "--lint-fatal", "alerts.yml")
	run(t, dir, promtool, "test", "rules", "alerts_test.yml")
}

func TestHAProxyAcceptsItsConfiguration(t *testing.T) {
	t.Parallel()
	run(t, filepath.Join(root, "deploy/haproxy"), tool(t, "haproxy", "haproxy"), "-c", "-f", "haproxy.cfg")
}

func TestEveryAlertIsTestedAndHasARunbook(t *testing.T) {
	t.Parallel()
	var tests struct {
		Tests []struct {
			Rules []struct {
				Alertname string
				Expected  []any `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	decode(t, filepath.Join(root, "deploy/prometheus/alerts_test.yml"), yaml.Unmarshal, &tests)
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, test := range tests.Tests {
		for _, r := range test.Rules {
			if len(r.Expected) > 0 {
				fires[r.Alertname] = true
			} else {
				silent[r.Alertname] = true
			}
		}
	}
	used := map[string]bool{}
	for _, a := range alerts(t) {
		if !fires[a.Alert] || !silent[a.Alert] {
			t.Errorf("%s: fires in a test: %v; is silent in one: %v", a.Alert, fires[a.Alert], silent[a.Alert])
		}
		if s := a.Labels["severity"]; s != "critical" && s != "warning" {
			t.Errorf("%s has severity %q", a.Alert, s)
		}
		for _, name := range []string{"summary", "description", "runbook"} {
			if a.Annotations[name] == "" {
				t.Errorf("%s has no %s", a.Alert, name)
			}
		}
		page := a.Annotations["runbook"]
		used[filepath.Base(page)] = true
		raw, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Errorf("%s: %v", a.Alert, err)
			continue
		}
		for _, want := range []string{"# ", "`" + a.Alert + "`", "## What it means", "## What to look at", "## What to do"} {
			if !strings.Contains(string(raw), want) {
				t.Errorf("%s does not have %q", page, want)
			}
		}
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs/runbooks/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if name := filepath.Base(p); !used[name] && name != "README.md" {
			t.Errorf("no alert leads to %s", p)
		}
	}
}

// What the chart has of them is the same, byte for byte.
func TestDashboardsAndTheChartsFilesAreGenerated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	deploy, err := filepath.Abs(filepath.Join(root, "deploy"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "prometheus"), os.DirFS(filepath.Join(deploy, "prometheus"))); err != nil {
		t.Fatal(err)
	}
	run(t, ".", "go", "run", "./dashboards", dir)
	for _, folder := range []string{"grafana/dashboards", "helm/weft/files/dashboards", "helm/weft/files"} {
		want, have := filesOf(t, filepath.Join(dir, folder)), filesOf(t, filepath.Join(deploy, folder))
		if len(want) == 0 || len(have) != len(want) {
			t.Errorf("deploy/%s has %d files, want %d", folder, len(have), len(want))
		}
		for name, text := range want {
			if have[name] != text {
				t.Errorf("deploy/%s/%s is stale (go -C test/deploy generate ./...)", folder, name)
			}
		}
	}
}

func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		if !e.IsDir() {
			out[e.Name()] = string(bytesOf(t, filepath.Join(dir, e.Name())))
		}
	}
	return out
}

// What the alerts say fills up is drawn: how fast, and since when.
func TestWhatFillsUpIsDrawn(t *testing.T) {
	t.Parallel()
	drawn := map[string]bool{}
	for _, e := range panelExpressions(t, "1m") {
		for _, s := range selectors(t, e) {
			drawn[s.Name] = true
		}
	}
	for _, a := range alerts(t) {
		for _, s := range selectors(t, expression{a.Alert, a.Expr}) {
			if strings.HasSuffix(s.Name, "_bytes") && !drawn[s.Name] {
				t.Errorf("%s looks at %s, and no dashboard draws it", a.Alert, s.Name)
			}
		}
	}
}

func TestDashboardsAreWhole(t *testing.T) {
	t.Parallel()
	uids := map[string]string{}
	for file, d := range dashboards(t) {
		if other := uids[d.UID]; d.UID == "" || other != "" {
			t.Errorf("%s: uid %q is empty or also that of %q", file, d.UID, other)
		}
		uids[d.UID] = file
		var chosen []string
		for _, v := range d.Templating.List {
			chosen = append(chosen, v.Name)
		}
		if !slices.Equal(chosen, []string{"datasource", "namespace", "cluster", "node", "etcd"}) {
			t.Errorf("%s: a reader chooses %v", file, chosen)
		}
		taken := map[[2]int]string{}
		for _, p := range d.Panels {
			if where := file + ": " + p.Title; quiet[where] && p.FieldConfig.Defaults.NoValue == "" {
				t.Errorf("%s is mostly empty, and does not say that this is normal", where)
			}
			if p.Datasource.UID != "${datasource}" {
				t.Errorf("%s: panel %q has the data source %q: where it is imported there is none of that id", file, p.Title, p.Datasource.UID)
			}
			if p.Title == "" || len(p.Targets) == 0 {
				t.Errorf("%s: panel %q has %d queries", file, p.Title, len(p.Targets))
			}
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
					if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
						t.Fatalf("%s: %q lies over %q, or outside", file, p.Title, other)
					}
					taken[[2]int{x, y}] = p.Title
				}
			}
		}
	}
}
