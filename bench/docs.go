package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// writeDocs puts the tables of the runs in dir between the marks of a document and of
// the page of its name in evidence/ beside it, <!-- NAME --> and <!-- end of NAME -->, and plots into
// a directory of the document's name beside it. Of a run that is not in dir they stay as they are.
func writeDocs(document, dir string) error {
	var r, scale report
	if err := readJSON(dir, "results.json", &r); err != nil {
		return err
	}
	if err := optional(readJSON(dir, "million.json", &scale)); err != nil {
		return err
	}
	r.Points = append(r.Points, scale.Points...)
	var rest atRest
	if err := optional(readJSON(dir, "idle.json", &rest)); err != nil {
		return err
	}
	if rest.Seconds > 0 {
		r.atRest = &rest
	}
	plots := strings.TrimSuffix(document, ".md")
	sections := r.sections(filepath.Base(plots))
	if len(scale.Points) > 0 {
		sections["million"] = scale.when() + "\n\n" + scale.rows(passMillion, func(*point) bool { return true })
	}
	if r.atRest != nil {
		sections["idle"] = rest.table()
	}
	var level sustained
	if err := optional(readJSON(dir, "sustained.json", &level)); err != nil {
		return err
	}
	if len(level.Runs) > 0 {
		sections["sustained"] = level.table()
	}
	var others peers
	if err := optional(readJSON(dir, "peers.json", &others)); err != nil {
		return err
	}
	sections["headline"] = r.headline(&level, &others)
	beside, err := os.ReadFile(filepath.Join(dir, "peers.md"))
	if err := optional(err); err != nil {
		return err
	}
	if err == nil {
		sections["peers"] = string(beside)
	}
	for _, page := range []string{document, filepath.Join(filepath.Dir(document), "evidence", filepath.Base(document))} {
		if err := fill(page, sections); err != nil {
			return err
		}
	}
	for name := range sections {
		return fmt.Errorf("%s: there is no place for %s, and %d more", document, name, len(sections)-1)
	}
	return r.writePlots(plots)
}

func readJSON(dir, name string, into any) error {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// optional forgives that a file is not there.
func optional(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// fill puts the tables into a page that has places for them, and takes those out of sections.
func fill(page string, sections map[string]string) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	text := string(old)
	for name, table := range sections {
		begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
		head, rest, ok := strings.Cut(text, begin)
		if !ok {
			continue
		}
		_, tail, ok := strings.Cut(rest, end)
		if !ok {
			return fmt.Errorf("%s: nothing ends what %s begins", page, strings.TrimSpace(begin))
		}
		text = head + begin + strings.TrimSpace(table) + "\n" + end + tail
		delete(sections, name)
	}
	return os.WriteFile(page, []byte(text), 0o644)
}

// when says where and when a run was.
func (r *report) when() string {
	text := fmt.Sprintf("%s; %s; %.0f s; load average before it %.2f.", r.Machine, r.Started.Format("2006-01-02 15:04 MST"), r.Seconds, r.Load)
	if r.Quick {
		text += " A quick run: short measurements, fewer instances."
	}
	return text
}

// sections are the tables of the document; plots is where its plots are.
func (r *report) sections(plots string) map[string]string {
	all := func(p *point) bool { return true }
	named := func(names ...string) func(p *point) bool {
		return func(p *point) bool { return slices.Contains(names, p.Name) }
	}
	scale := func(p *point) bool { return p.Kind == "lookup" || p.Kind == "among" }
	return map[string]string{
		"machine":   r.when(),
		"counts":    countTable(r.Counts),
		"calls":     r.rows(passMain, named(threeCalls, threeCallsSlow)),
		"goals":     r.goalTable(),
		"plots":     "![throughput against callers](" + plots + "/throughput.svg)\n\n![latency against callers](" + plots + "/latency.svg)",
		"raw":       r.rows(passMain, func(p *point) bool { return p.Kind == "raw" }),
		"workloads": r.rows(passMain, func(p *point) bool { return p.Kind == "workload" && !named("W4", "W5", threeCalls, threeCallsSlow)(p) }),
		"once":      r.rows(passMain, named("W4", "W5")),
		"http":      r.rows(passHTTP, func(p *point) bool { return p.Kind == "workload" }),
		"group":     r.rows(passGroup, all),
		"etcd":      r.rows(passEtcd, all),
		"nodes":     r.rows(passNodes, all),
		"memory":    r.rows(passMemory, named("W4")),
		"lookups":   r.rows(passMemory, scale),
		"shards":    r.rows(passShards, func(p *point) bool { return p.Kind == "workload" }),
	}
}

// rows is a table of the points of a pass, with what they say besides below it.
func (r *report) rows(pass string, want func(*point) bool) string {
	var points []*point
	setups := map[setup]bool{}
	for i := range r.Points {
		if p := &r.Points[i]; p.Pass == pass && want(p) {
			points = append(points, p)
			setups[p.setup] = true
		}
	}
	if len(points) == 0 {
		return "Not measured."
	}
	var b strings.Builder
	if len(setups) == 1 {
		fmt.Fprintf(&b, "With %s:\n\n", points[0].setup)
	}
	where := func(p *point) string {
		if len(setups) == 1 {
			return ""
		}
		return ", " + p.setup.String()
	}
	b.WriteString("| what | callers | per second | × put | p50 ms | p99 ms | p99.9 ms | processor ms | nodes | callers | etcd | requests | proposals | etcd KB | allocations |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, p := range points {
		if p.missed() {
			continue
		}
		fmt.Fprintf(&b, "| %s%s | %d | %.0f | %.2f | %.2f | %.2f | %.2f | %.3f | %.3f | %.3f | %.3f | %.2f | %.2f | %.2f | %.0f |\n", p.label(), where(p), p.Concurrency,
			p.PerSecond, p.ToPut, p.P50, p.P99, p.P999, p.CPU, p.CPUNodes, p.CPUCallers, p.CPUEtcd, p.Requests, p.Proposals, p.Bytes/1024, p.Allocs)
	}
	b.WriteString("\n")
	for _, p := range points {
		if parts := p.remarks(); len(parts) > 0 {
			fmt.Fprintf(&b, "- %s%s at %d: %s\n", p.label(), where(p), p.Concurrency, strings.Join(parts, ", "))
		}
	}
	return b.String()
}
