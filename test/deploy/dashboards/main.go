// Command dashboards writes the dashboards of Grafana into deploy/grafana, one file
// each. They are generated so that a change of one metric or one convention is
// one change here, and so that they are all made alike. It writes them into the
// Helm chart as well, with the alerts: a chart can read only what is inside of it.
//
//	go -C test/deploy generate ./...
//
// What is on them stands in pages.go and pages_cluster.go, how Grafana wants it
// in grafana.go.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . ../../../deploy

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: dashboards DEPLOY")
		os.Exit(2)
	}
	if err := all(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "dashboards:", err)
		os.Exit(1)
	}
}

func all(deploy string) error {
	chart := filepath.Join(deploy, "helm/weft/files")
	for _, dir := range []string{filepath.Join(deploy, "grafana/dashboards"), filepath.Join(chart, "dashboards")} {
		if err := write(dir); err != nil {
			return err
		}
	}
	alerts, err := os.ReadFile(filepath.Join(deploy, "prometheus/alerts.yml"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(chart, "alerts.yml"), alerts, 0o644)
}

// write writes every page and removes what is no page any more.
func write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	for _, p := range append(pages, clusterPages...) {
		raw, err := json.MarshalIndent(draw(p), "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, p.id+".json"), append(raw, '\n'), 0o644); err != nil {
			return err
		}
	}
	return nil
}
