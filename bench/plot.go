package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
)

// plots draws throughput and latency against concurrency, one line for each
// workload and setup; of the whole plan the main pass and HTTP.
func (r *report) plots() map[string][]byte {
	throughput, latency := newChart("Throughput", "per second"), newChart("Latency (solid p50, dashed p99)", "ms")
	for i := range r.Points {
		p := &r.Points[i]
		if p.Kind == "raw" && p.Name != "put" || p.Kind == "lookup" || p.Kind == "among" || labels[p.Name] != "" || p.Kind == "workload" && (workloads[p.Name] == nil || workloads[p.Name].once) {
			continue
		}
		if p.Pass != "" && p.Pass != passMain && (p.Pass != passHTTP || p.Kind == "raw" || p.Name != "W1" && p.Name != "W2") {
			continue
		}
		name := fmt.Sprintf("%s, %d node(s), %s, group commit %s", p.label(), p.Nodes, p.Transport, p.Group)
		switch {
		case p.Kind == "raw":
			name = "raw put"
		case p.Pass == passHTTP:
			name = p.label() + " over HTTP"
		case p.Pass != "":
			name = p.label()
		}
		if p.Pass == "" {
			name += ", etcd " + p.Etcd
		}
		throughput.add(name, p.Concurrency, p.PerSecond, false)
		latency.add(name, p.Concurrency, p.P50, false)
		latency.add(name+" p99", p.Concurrency, p.P99, true)
	}
	return map[string][]byte{"throughput.svg": throughput.svg(), "latency.svg": latency.svg()}
}

// chart is lines over logarithmic axes.
type chart struct {
	title, unit string
	order       []string
	lines       map[string]*line
}

type line struct {
	x      []int
	y      []float64
	dashed bool
}

func newChart(title, unit string) *chart {
	return &chart{title: title, unit: unit, lines: map[string]*line{}}
}

func (c *chart) add(name string, x int, y float64, dashed bool) {
	l := c.lines[name]
	if l == nil {
		l = &line{dashed: dashed}
		c.lines[name], c.order = l, append(c.order, name)
	}
	if y > 0 {
		l.x, l.y = append(l.x, x), append(l.y, y)
	}
}

const (
	width, height           = 960, 520
	left, top, plotW, plotH = 80, 40, 520, 420
)

var colours = []string{"#1b6ca8", "#d1495b", "#2e933c", "#8f5db7", "#e08e0b", "#3a3a3a", "#17a2b8", "#a0522d", "#7f8c8d", "#c2185b"}

func (c *chart) svg() []byte {
	minX, maxX, minY, maxY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, l := range c.lines {
		for i := range l.x {
			minX, maxX = min(minX, float64(l.x[i])), max(maxX, float64(l.x[i]))
			minY, maxY = min(minY, l.y[i]), max(maxY, l.y[i])
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/><text x="%d" y="24" font-size="16">%s</text>`+"\n", left, c.title)
	if maxX < minX {
		b.WriteString("</svg>\n")
		return b.Bytes()
	}
	minY, maxY = math.Pow(10, math.Floor(math.Log10(minY))), math.Pow(10, math.Ceil(math.Log10(maxY)+1e-9))
	if maxX == minX {
		maxX = minX * 2
	}
	px := func(x float64) float64 { return left + plotW*math.Log(x/minX)/math.Log(maxX/minX) }
	py := func(y float64) float64 { return top + plotH - plotH*math.Log(y/minY)/math.Log(maxY/minY) }
	for y := minY; y <= maxY*1.001; y *= 10 {
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%g</text>`+"\n", left, left+plotW, py(y), py(y), left-6, py(y)+4, y)
	}
	var xs []int
	for _, l := range c.lines {
		xs = append(xs, l.x...)
	}
	slices.Sort(xs)
	for _, x := range slices.Compact(xs) {
		fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#eee"/><text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n", px(float64(x)), px(float64(x)), top, top+plotH, px(float64(x)), top+plotH+18, x)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">callers at once</text><text x="18" y="%d" transform="rotate(-90 18 %d)" text-anchor="middle">%s</text>`+"\n", left+plotW/2, top+plotH+40, top+plotH/2, top+plotH/2, c.unit)
	c.draw(&b, px, py)
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// draw draws the lines; the dashed one of a pair has the colour of the solid one
// and no entry of its own in the legend.
func (c *chart) draw(b *bytes.Buffer, px, py func(float64) float64) {
	colour, n := map[string]string{}, 0
	for _, name := range c.order {
		l := c.lines[name]
		base := strings.TrimSuffix(name, " p99")
		if colour[base] == "" {
			colour[base] = colours[n%len(colours)]
			fmt.Fprintf(b, `<rect x="%d" y="%d" width="14" height="4" fill="%s"/><text x="%d" y="%d" font-size="11">%s</text>`+"\n", left+plotW+16, top+n*18, colour[base], left+plotW+36, top+n*18+7, base)
			n++
		}
		var path []string
		for i := range l.x {
			path = append(path, fmt.Sprintf("%.1f,%.1f", px(float64(l.x[i])), py(l.y[i])))
		}
		dash := ""
		if l.dashed {
			dash = ` stroke-dasharray="5 4"`
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", strings.Join(path, " "), colour[base], dash)
	}
}
