package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// peers is what bench/peers writes, as far as the headline needs it.
type peers struct {
	Medians []struct {
		System    string  `json:"system"`
		Name      string  `json:"name"`
		Commit    string  `json:"commit"`
		PerSecond float64 `json:"perSecond"`
	} `json:"medians"`
}

// headline is what the page says first: the figures that a user asks for, and the
// goals that are not reached.
func (r *report) headline(level *sustained, others *peers) string {
	var b strings.Builder
	b.WriteString("| what, at 256 callers unless said otherwise | measured |\n|---|---|\n")
	row := func(measured bool, what, format string, values ...any) {
		if measured {
			fmt.Fprintf(&b, "| %s | %s |\n", what, fmt.Sprintf(format, values...))
		}
	}
	in := func(name, commit string, callers int) *point { return r.find(passMain, name, commit, callers) }
	w1, strict, w2 := in("W1", "burst", most), in("W1", "activity", most), in("W2", "burst", most)
	row(w1.Ops > 0, "W1: three activities, start to end", "%s a second, %.2f of the rate of raw puts; median %.0f ms, %.2f ms of processor time in all processes", thousands(w1.PerSecond), w1.ToPut, w1.P50, w1.CPU)
	row(strict.Ops > 0, "the same, saved after each activity (strict)", "%s a second, %.2f of raw puts", thousands(strict.PerSecond), strict.ToPut)
	row(w2.Ops > 0, "W2: start, wait for an event, resume, end", "%s a second, %.2f of raw puts; median resume %.0f ms", thousands(w2.PerSecond), w2.ToPut, w2.Notes["resume p50 ms"])
	one, two := in("W1", "burst", 1), in("W2", "burst", 1)
	row(one.Ops > 0 && two.Ops > 0, "with one caller, medians", "W1 %.2f ms, W2 %.2f ms, of it the resume %.2f ms; a raw put %.2f ms", one.P50, two.P50, two.Notes["resume p50 ms"], in("put", "", 1).P50)
	calls, slow := in(threeCalls, "burst", most), in(threeCallsSlow, "burst", most)
	row(calls.Ops > 0 && slow.Ops > 0, "W1 with three HTTP calls, answered at once and after 5 ms", "%s and %s a second", thousands(calls.PerSecond), thousands(slow.PerSecond))
	http1, http2 := r.find(passHTTP, "W1", "burst", most), r.find(passHTTP, "W2", "burst", most)
	row(http1.Ops > 0 && http2.Ops > 0, "W1 and W2 over HTTP", "%s and %s a second", thousands(http1.PerSecond), thousands(http2.PerSecond))
	w3 := in("W3", "burst", most)
	row(w3.Ops > 0, "W3: events for one instance", "%s a second, %.0f times the hand-overs of a contended lock", thousands(w3.PerSecond), w3.Notes["to contended mutex"])
	among := r.amongMillion()
	row(among.Ops > 0, "a node beside 1,000,000 instances that wait", "%.0f MB resident; %.0f resumes a second among them", among.Notes["resident MB after"], among.PerSecond)
	var rates []string
	best := level.highest()
	for _, quota := range slices.Sorted(maps.Keys(best)) {
		rates = append(rates, fmt.Sprintf("%d starts a second on %d GiB of etcd's quota", best[quota], quota))
	}
	row(len(rates) > 0, "level for half an hour, with what ended kept for 10 minutes", "%s", strings.Join(rates, ", "))
	return b.String() + others.row() + "\n" + r.shortfall()
}

// highest is, of each quota, the highest rate that was level for 30 minutes.
func (s *sustained) highest() map[int]int {
	best := map[int]int{}
	for i := range s.Runs {
		if run := &s.Runs[i]; len(run.Why) == 0 && run.Keep >= leastKeep {
			best[run.Quota] = max(best[run.Quota], run.Rate)
		}
	}
	return best
}

// row has the best rate of each system on W1, at any number of callers.
func (p *peers) row() string {
	best := map[string]float64{}
	for _, m := range p.Medians {
		if m.Name == "W1" && m.Commit == "burst" {
			best[m.System] = max(best[m.System], m.PerSecond)
		}
	}
	var names, rates []string
	for _, s := range []struct{ system, name string }{
		{"weft", "Weft"}, {"river", "River"}, {"temporal-postgres", "Temporal (Postgres)"}, {"temporal-sqlite", "Temporal (SQLite)"},
	} {
		if best[s.system] > 0 {
			names, rates = append(names, s.name), append(rates, thousands(best[s.system]))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("| W1 in one run with others: %s | %s a second, each at its best number of callers |\n", strings.Join(names, ", "), strings.Join(rates, ", "))
}

// shortfall says which goals are not reached.
func (r *report) shortfall() string {
	var missed []string
	n := 0
	for _, g := range goals {
		v, text, ok := g.reached(r)
		if !measured(v) {
			continue
		}
		n++
		if !ok {
			missed = append(missed, fmt.Sprintf("%s (%s, wanted %s)", g.what, text, g.target))
		}
	}
	if len(missed) == 0 {
		return fmt.Sprintf("All %d goals that were measured are reached.\n", n)
	}
	return fmt.Sprintf("Of %d goals that were measured %d are not reached: %s.\n", n, len(missed), strings.Join(missed, "; "))
}

// thousands writes a rate as people read it.
func thousands(v float64) string {
	text := fmt.Sprintf("%.0f", v)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
