package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// report is what the program writes: every measurement, and their medians.
type report struct {
	Machine  string            `json:"machine"`
	Started  time.Time         `json:"started"`
	Seconds  float64           `json:"seconds"`
	Settings map[string]string `json:"settings"`
	Medians  []median          `json:"medians"`
	Points   []point           `json:"points"`
}

// median is the middle of what the rounds gave.
type median struct {
	point
	Rounds int     `json:"rounds"`
	Least  float64 `json:"leastPerSecond"`
	Most   float64 `json:"mostPerSecond"`
	ToPut  float64 `json:"toPut"` // of the ratios to raw puts of the same round and concurrency; 0: no puts
}

func (r *report) summarise() {
	type kind struct {
		system, name, commit string
		concurrency          int
	}
	var order []kind
	of := map[kind][]point{}
	perRound := map[[2]int][]float64{} // round and concurrency: puts
	for _, p := range r.Points {
		if p.Name == puts {
			k := [2]int{p.Round, p.Concurrency}
			perRound[k] = append(perRound[k], p.PerSecond)
		}
		k := kind{p.System, p.Name, p.Commit, p.Concurrency}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], p)
	}
	r.Medians = nil
	for _, k := range order {
		ps := of[k]
		take := func(f func(p point) float64) []float64 {
			var out []float64
			for _, p := range ps {
				out = append(out, f(p))
			}
			slices.Sort(out)
			return out
		}
		rates := take(func(p point) float64 { return p.PerSecond })
		m := median{point: point{System: k.system, Name: k.name, Commit: k.commit, Concurrency: k.concurrency, PerSecond: middle(rates)},
			Rounds: len(ps), Least: rates[0], Most: rates[len(rates)-1]}
		m.P50 = middle(take(func(p point) float64 { return p.P50 }))
		m.P99 = middle(take(func(p point) float64 { return p.P99 }))
		m.P999 = middle(take(func(p point) float64 { return p.P999 }))
		m.CPU = middle(take(func(p point) float64 { return p.CPU }))
		m.ToPut = middle(take(func(p point) float64 {
			if put := mean(perRound[[2]int{p.Round, p.Concurrency}]); put > 0 {
				return p.PerSecond / put
			}
			return 0
		}))
		for _, p := range ps {
			m.Ops, m.Failed = m.Ops+p.Ops, m.Failed+p.Failed
			if p.Error != "" {
				m.Error = p.Error
			}
		}
		r.Medians = append(r.Medians, m)
	}
}

func (r *report) write(dir string) error {
	r.summarise()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "peers.json"), append(b, '\n'), 0o644); err != nil {
		return err
	}
	md := r.markdown()
	fmt.Print(md)
	return os.WriteFile(filepath.Join(dir, "peers.md"), []byte(md), 0o644)
}

// markdown is a table for each workload, and the settings. bench/ puts it into
// docs/performance.md as it is.
func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; %s; %.0f s in all.\n", r.Machine, r.Started.Format("2006-01-02 15:04 MST"), r.Seconds)
	for _, w := range []struct{ name, commit, title string }{
		{puts, "", "Raw puts to etcd, of the same run"},
		{"W1", "burst", "W1, start to finish, saved once"},
		{"W1", "activity", "W1, saved after each activity"},
		{"W2", "burst", "W2, wait and resume"},
		{"W2", "activity", "W2, saved after each activity"},
	} {
		fmt.Fprintf(&b, "\n%s:\n\n| system | callers | per second | least – most | × put | p50 ms | p99 ms | processor ms |\n|---|---|---|---|---|---|---|---|\n", w.title)
		for _, m := range r.Medians {
			if m.Name != w.name || w.commit != "" && m.Commit != w.commit {
				continue
			}
			fmt.Fprintf(&b, "| %s | %d | %.0f | %.0f – %.0f | %s | %.2f | %.2f | %.3f |\n", m.System, m.Concurrency, m.PerSecond, m.Least, m.Most, ratio(m.ToPut), m.P50, m.P99, m.CPU)
		}
	}
	for _, m := range r.Medians {
		if m.Failed > 0 {
			fmt.Fprintf(&b, "\n%s, %s (%s) at %d: %d of %d failed, such as: %s\n", m.System, m.Name, m.Commit, m.Concurrency, m.Failed, m.Ops+m.Failed, m.Error)
		}
	}
	b.WriteString("\nWhere more callers are missing, half of the fewer already waited for longer than a measurement takes.\n\nSettings:\n\n")
	var names []string
	for name := range r.Settings {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "- **%s**: %s\n", name, r.Settings[name])
	}
	return b.String()
}

func ratio(v float64) string {
	if v == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", v)
}

func middle(sorted []float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func mean(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}
