package main

import (
	"fmt"
	"slices"
	"strings"
)

// look is what was seen in a part of a sustained run, and at its end.
type look struct {
	Second     float64 `json:"second"`     // since the run began
	Ended      int     `json:"ended"`      // starts that were answered with a finished instance
	Failed     int     `json:"failed"`     // those that were not
	Refused    int     `json:"refused"`    // that the node did not take for now, and that were sent again
	Unfinished int     `json:"unfinished"` // that are due and have no answer yet
	P50        float64 `json:"p50Ms"`      // from when a start was due
	P99        float64 `json:"p99Ms"`
	InUse      float64 `json:"inUseMB"`     // of etcd's database
	Allocated  float64 `json:"allocatedMB"` // its file
	Resident   float64 `json:"residentMB"`  // of the node
	Purged     float64 `json:"purged"`      // finished instances that retention has deleted so far
}

// A run is level if nothing that would end it some day grows: the last third is
// compared with the third before it. The first is left out, as until then nothing is
// old enough to go. What retention deleted in the second is in the database until etcd
// compacts, up to two sixths of a run later: of the database, the halves of the last third are
// compared, each a compaction long. They are half as far apart as the middles of two thirds, so
// that half as much growth is too much.
type levelCriterion struct {
	what   string
	value  func(l *look) float64
	parts  func(looks []look) (was, is []look)
	of     func(values []float64) float64 // a part as one figure
	ofName string
	factor float64 // how much more it may be in the last third,
	slack  float64 // and how much that does not count
	unit   string
}

var levelCriteria = []levelCriterion{
	{"starts without an answer", func(l *look) float64 { return float64(l.Unfinished) }, thirds, middle, "median", 1.5, 20, ""},
	{"p99 of a start", func(l *look) float64 { return l.P99 }, thirds, middle, "median", 1.5, 20, " ms"},
	{"etcd's database in use", func(l *look) float64 { return l.InUse }, halves, slices.Max[[]float64], "most", 1.03, 2, " MB"},
	{"resident memory of the node", func(l *look) float64 { return l.Resident }, thirds, slices.Max[[]float64], "most", 1.1, 10, " MB"},
}

const (
	// mostFailed is the part of the starts that may fail in a level run.
	mostFailed = 1e-4
	// mostP99 is how slow a start may be in a level run, in ms.
	mostP99 = 1000
	// leastLooks is how many there have to be for a judgement.
	leastLooks = 12
)

func middle(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}

// thirds are the last two.
func thirds(looks []look) (second, last []look) {
	n := len(looks)
	return looks[n/3 : 2*n/3], looks[2*n/3:]
}

// halves are those of the last third.
func halves(looks []look) (first, second []look) {
	_, last := thirds(looks)
	return last[:len(last)/2], last[len(last)/2:]
}

func (c *levelCriterion) values(looks []look) float64 {
	var all []float64
	for i := range looks {
		all = append(all, c.value(&looks[i]))
	}
	return c.of(all)
}

// judge tells why a run was not level; nothing: it was.
func judge(looks []look) (why []string) {
	if len(looks) < leastLooks {
		return []string{fmt.Sprintf("%d looks are too few to tell", len(looks))}
	}
	_, last := thirds(looks)
	for i := range levelCriteria {
		c := &levelCriteria[i]
		before, after := c.parts(looks)
		if was, is := c.values(before), c.values(after); is > c.factor*was+c.slack {
			why = append(why, fmt.Sprintf("%s grew from %.0f to %.0f%s", c.what, was, is, c.unit))
		}
	}
	ended, failed := 0, 0
	for i := range looks {
		ended, failed = ended+looks[i].Ended, failed+looks[i].Failed
	}
	if float64(failed) > mostFailed*float64(ended) {
		why = append(why, fmt.Sprintf("%d of %d starts failed", failed, ended+failed))
	}
	if p99 := levelCriteria[1].values(last); p99 > mostP99 {
		why = append(why, fmt.Sprintf("the p99 of a start is %.0f ms", p99))
	}
	return why
}

// criteria says what level means.
func criteria() string {
	var b strings.Builder
	b.WriteString("A run is level if, in its last third, each of these is at most so many times what it was in the third before, or, for etcd's database, in its second half what it was in its first (and some that does not count):\n\n| what | of a part | times | and |\n|---|---|---|---|\n")
	for _, c := range levelCriteria {
		fmt.Fprintf(&b, "| %s | %s | %.2f | %.0f%s |\n", c.what, c.ofName, c.factor, c.slack, c.unit)
	}
	fmt.Fprintf(&b, "\nand if at most one start in %.0f failed and the p99 of a start is at most %d ms.\n", 1/mostFailed, mostP99)
	return b.String()
}
