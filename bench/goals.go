package main

import (
	"fmt"
	"math"
	"strings"
)

// goal is one of the figures that Weft is to reach, as a ratio within a run.
type goal struct {
	what, target string
	reached      func(r *report) (value float64, text string, ok bool)
}

// atLeast and atMost make a goal of a figure; without the points there is none.
func atLeast(what string, least float64, unit string, value func(r *report) float64) goal {
	return goal{what, fmt.Sprintf("≥ %g%s", least, unit), func(r *report) (float64, string, bool) {
		v := value(r)
		return v, fmt.Sprintf("%.2f%s", v, unit), v >= least
	}}
}

func atMost(what string, most float64, unit string, value func(r *report) float64) goal {
	return goal{what, fmt.Sprintf("≤ %g%s", most, unit), func(r *report) (float64, string, bool) {
		v := value(r)
		return v, fmt.Sprintf("%.2f%s", v, unit), v <= most
	}}
}

// most callers in the plan.
const most = 256

// goals are those of the main pass, a separate single etcd and one node; those about
// scale are of the run that makes a million instances, and that of what is at rest of its own.
var goals = []goal{
	atLeast("W1 at 256 callers, to raw puts", 0.65, " ×", func(r *report) float64 { return r.find(passMain, "W1", "burst", most).ToPut }),
	atLeast("W1 at 256, saved after each activity (strict), to raw puts", 0.2, " ×", func(r *report) float64 { return r.find(passMain, "W1", "activity", most).ToPut }),
	atLeast("W1 at 256, saved after each activity (joined), to raw puts", 0.25, " ×", func(r *report) float64 { return r.find(passMain, "W1", "joined", most).ToPut }),
	atLeast("W2 at 256, to raw puts", 0.25, " ×", func(r *report) float64 { return r.find(passMain, "W2", "burst", most).ToPut }),
	atMost("median resume of an idle instance at 1 caller, to the median raw put", 3, " ×", func(r *report) float64 {
		return r.find(passMain, "W2", "burst", 1).Notes["resume p50 ms"] / r.find(passMain, "put", "", 1).P50
	}),
	atMost("median of a whole W1 at 1 caller, to the median raw put", 1.3, " ×", func(r *report) float64 { return r.medianToPut("W1") }),
	atMost("median of a whole W2 at 1 caller, to the median raw put", 4, " ×", func(r *report) float64 { return r.medianToPut("W2") }),
	atLeast("W3 at 256 senders, to hand-overs of a contended mutex", 10, " ×", func(r *report) float64 {
		return r.find(passMain, "W3", "burst", most).Notes["to contended mutex"]
	}),
	atMost("processor time of a W1 at 256, all processes", 0.25, " ms", func(r *report) float64 { return r.find(passMain, "W1", "burst", most).CPU }),
	atMost("what HTTP adds to it in nodes and etcd", 40, " %", func(r *report) float64 {
		http, in := r.find(passHTTP, "W1", "burst", most), r.find(passMain, "W1", "burst", most)
		if http.CPU == 0 {
			return 0
		}
		return 100 * ((http.CPUNodes+http.CPUEtcd)/in.CPU - 1)
	}),
	atMost("processor time of three nodes and three members of etcd that have nothing to do, all six", 8, " % of a core", func(r *report) float64 {
		if r.atRest == nil {
			return 0
		}
		return r.atRest.Together
	}),
	atMost("resident memory of a node beside 1,000,000 suspended instances", 150, " MB", func(r *report) float64 {
		return r.amongMillion().Notes["resident MB after"]
	}),
	atMost("median resume among them at 1 caller to that among 1,000, each to the puts right before and after it", 1.2, " ×", func(r *report) float64 {
		return r.resumeToPuts(million) / r.resumeToPuts(1000)
	}),
	atLeast("1,000 resumes a second among them", 0.99, " of those sent in time", func(r *report) float64 {
		return r.amongMillion().PerSecond / rateOfResumes
	}),
}

// amongMillion is W4 among a million; a run with fewer of them does not count.
func (r *report) amongMillion() *point {
	if p := r.find(passMillion, "W4", "burst", rateOfResumes); p.Notes["suspended"] >= million {
		return p
	}
	return &point{}
}

// resumeToPuts is the median of a resume among n instances by that of the puts right before
// and after it: the two numbers of instances are minutes apart, in which machines drift.
func (r *report) resumeToPuts(n int) float64 {
	p := r.find(passMillion, resumeAmong, "", n)
	return p.P50 / ((p.Notes[putBefore] + p.Notes[putAfter]) / 2)
}

// medianToPut is the median of a workload with one caller by that of a put.
func (r *report) medianToPut(workload string) float64 {
	return r.find(passMain, workload, "burst", 1).P50 / r.find(passMain, "put", "", 1).P50
}

// find gives a point of a pass, or an empty one.
func (r *report) find(pass, name, commit string, callers int) *point {
	for i := range r.Points {
		if p := &r.Points[i]; p.Pass == pass && p.Name == name && p.Commit == commit && p.Concurrency == callers {
			return p
		}
	}
	return &point{}
}

// goalTable says of each goal whether it was reached.
func (r *report) goalTable() string {
	var b strings.Builder
	b.WriteString("| what | to reach | measured | reached |\n|---|---|---|---|\n")
	for _, g := range goals {
		v, text, ok := g.reached(r)
		reached := map[bool]string{true: "yes", false: "**no**"}[ok]
		if !measured(v) {
			text, reached = "not measured", "–"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", g.what, g.target, text, reached)
	}
	return b.String()
}

// measured tells whether there were the points of a goal.
func measured(v float64) bool { return v != 0 && !math.IsNaN(v) && !math.IsInf(v, 0) }
