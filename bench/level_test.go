package main

import (
	"slices"
	"strings"
	"testing"
)

func TestARunIsJudgedByItsLastParts(t *testing.T) {
	t.Parallel()
	level := func() []look {
		looks := make([]look, 60)
		for i := range looks {
			looks[i] = look{Ended: 1000, Unfinished: 10, P50: 3, P99: 40, InUse: min(float64(i)*50, 900), Resident: min(60+float64(i), 80)}
		}
		return looks
	}
	for name, c := range map[string]struct {
		change func(l *look, i int)
		why    string // part of it; empty: level
	}{
		"what grows until it is old enough to go": {func(*look, int) {}, ""},
		"what goes up and down with compactions":  {func(l *look, i int) { l.InUse += float64(i % 10 * 30) }, ""},
		"a slow moment":                           {func(l *look, i int) { l.P99 += float64(i / 58 * 5000) }, ""},
		"a database that grows":                   {func(l *look, i int) { l.InUse = float64(i) * 20 }, "etcd's database in use grew from 980 to 1180 MB"},
		"what went in the second third and is in the database until the last": {func(l *look, i int) { l.InUse = min(float64(i), 40)*20 + float64(i%10) }, ""},
		"a database that grows a little":                                      {func(l *look, i int) { l.InUse = 500 + float64(i)/59*150 }, "etcd's database in use grew from 625 to 650 MB"},
		"a node that grows":                                                   {func(l *look, i int) { l.Resident = 60 + 2*float64(i) }, "resident memory of the node grew"},
		"a queue that grows":                                                  {func(l *look, i int) { l.Unfinished = i * 10 }, "starts without an answer grew"},
		"latency that grows":                                                  {func(l *look, i int) { l.P99 = float64(i) * 10 }, "p99 of a start grew"},
		"slow from the beginning":                                             {func(l *look, _ int) { l.P99 = 1200 }, "the p99 of a start is 1200 ms"},
		"starts that fail":                                                    {func(l *look, i int) { l.Failed = i / 59 * 7 }, "7 of 60007 starts failed"},
		"one that failed":                                                     {func(l *look, i int) { l.Failed = i / 59 }, ""},
	} {
		looks := level()
		for i := range looks {
			c.change(&looks[i], i)
		}
		why := judge(looks)
		if c.why == "" && len(why) > 0 || c.why != "" && !slices.ContainsFunc(why, func(w string) bool { return strings.HasPrefix(w, c.why) }) {
			t.Errorf("%s: %q, want %q", name, why, c.why)
		}
	}
	if why := judge(level()[:8]); len(why) == 0 {
		t.Error("a run that was cut off is level")
	}
}
