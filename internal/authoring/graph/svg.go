package graph

import (
	"bufio"
	_ "embed"
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"
)

// SVG says how a picture is written as SVG.
type SVG struct {
	// Alone is for a file of its own: it brings its style along. In a page the
	// style is the page's, by the classes, as its security policy allows none inside.
	Alone bool
	// Link gives the address that an activity leads to; nil or "": none. What the box says is
	// the name of the link.
	Link func(id string) string
	// Selected is the id of the activity that is marked as chosen.
	Selected string
}

//go:embed style.css
var style string

// Style is the style sheet of the pictures, for pages that show them. It takes
// its colours from custom properties, and has a value for each of them.
func Style() string { return style }

// symbols tell a status without colour.
var symbols = map[Status]string{Done: "✓", Running: "▶", Waiting: "…", Faulted: "✗", Cancelled: "⊘", Undone: "↶"}

// WriteSVG writes the picture. Texts of the definition are escaped. Each activity
// is a group with the class "node", its status and data-id, and a title for
// those who cannot see it. In a page a node has a number, data-n, and the numbers of
// those that ways lead to from it, data-to.
func (g *Graph) WriteSVG(w io.Writer, o SVG) error {
	b := bufio.NewWriter(w)
	s := svgWriter{b: b, g: g, o: o}
	if !o.Alone {
		s.next = g.Next()
	}
	s.printf(`<svg xmlns="http://www.w3.org/2000/svg" class="graph" viewBox="0 0 %s %s" width="%s" height="%s" role="group" aria-label="%s">`,
		num(g.Width), num(g.Height), num(g.Width), num(g.Height), escape("Graph of "+g.Title))
	fmt.Fprintln(b)
	if o.Alone {
		s.printf("<style>%s</style>\n", style)
	}
	for i := range g.Nodes {
		if g.Nodes[i].Kind == Frame {
			s.node(i)
		}
	}
	for i := range g.Edges {
		s.edge(&g.Edges[i])
	}
	for i := range g.Nodes {
		if g.Nodes[i].Kind != Frame {
			s.node(i)
		}
	}
	fmt.Fprint(b, "</svg>\n")
	return b.Flush()
}

type svgWriter struct {
	b    *bufio.Writer
	g    *Graph
	o    SVG
	next [][]int // nil: nobody goes from one node to the next
}

func (s *svgWriter) printf(format string, args ...any) { fmt.Fprintf(s.b, format, args...) }

// escape makes a text one of XML, in one line.
func escape(s string) string { return html.EscapeString(plain(s)) }

func num(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func (s *svgWriter) edge(e *Edge) {
	class := "way"
	if e.Back {
		class += " back"
	}
	if e.Taken {
		class += " taken"
	}
	var d strings.Builder
	for i, p := range e.Points {
		d.WriteString(map[bool]string{true: "M", false: " L"}[i == 0])
		d.WriteString(num(p.X) + "," + num(p.Y))
	}
	s.printf(`<path class="%s" d="%s"/>`, class, d.String())
	if s.g.Nodes[e.To].Kind != Join {
		s.printf(`<path class="head" d="%s"/>`, head(e.Points))
	}
	fmt.Fprintln(s.b)
	if e.Label != "" {
		s.printf(`<text class="label" x="%s" y="%s">%s</text>`+"\n", num(e.LabelAt.X), num(e.LabelAt.Y), escape(e.Label))
	}
}

// head draws the arrow at the end of a way. A marker would need an id, and a page may have
// several pictures.
func head(way []Point) string {
	if len(way) < 2 {
		return ""
	}
	end, from := way[len(way)-1], way[len(way)-2]
	dx, dy := end.X-from.X, end.Y-from.Y
	long := math.Hypot(dx, dy)
	if long == 0 {
		return ""
	}
	dx, dy = dx/long, dy/long
	at := func(along, across float64) string {
		round := func(f float64) string { return num(math.Round(f*100) / 100) }
		return round(end.X+along*dx-across*dy) + "," + round(end.Y+along*dy+across*dx)
	}
	return "M" + at(-7, -4) + " L" + at(1, 0) + " L" + at(-7, 4) + " z"
}

// classes of the kinds of nodes.
var classes = map[Kind]string{Box: "box", Choice: "choice", Loop: "loop", Frame: "frame", State: "state", Folded: "folded", Join: "join", Start: "start", End: "end"}

func (s *svgWriter) node(at int) {
	n := &s.g.Nodes[at]
	if n.Kind == Join || n.Kind == Start || n.Kind == End {
		s.printf(`<circle class="%s" cx="%s" cy="%s" r="%s"/>`, classes[n.Kind], num(n.X+dot), num(n.Y+dot), num(dot-1))
		if n.Detail != "" {
			s.printf(`<text class="label" x="%s" y="%s">%s</text>`, num(n.X+2*dot+4), num(n.Y+dot+4), escape(n.Detail))
		}
		fmt.Fprintln(s.b)
		return
	}
	class := "node " + classes[n.Kind]
	if n.Mark.Status != NotRun {
		class += " " + string(n.Mark.Status)
	}
	if n.ID != "" && n.ID == s.o.Selected {
		class += " selected"
	}
	link, title := "", "<title>"+escape(n.describe())+"</title>"
	if s.o.Link != nil && n.ID != "" {
		link = s.o.Link(n.ID)
	}
	if link != "" {
		s.printf(`<a href="%s">%s`, escape(link), title) // not aria-label: a name has to have what is drawn, which is cut to the box
		title = ""
	}
	if n.Change != Same {
		class += " " + string(n.Change)
	}
	line := ""
	if n.Place.Line > 0 {
		line = fmt.Sprintf(` data-line="%d"`, n.Place.Line)
	}
	if s.next != nil {
		line += fmt.Sprintf(` data-n="%d"`, at)
		if to := s.next[at]; len(to) > 0 {
			line += ` data-to="` + strings.Trim(fmt.Sprint(to), "[]") + `"`
		}
	}
	s.printf(`<g class="%s" data-id="%s"%s>%s`, class, escape(n.ID), line, title)
	s.printf(`<rect x="%s" y="%s" width="%s" height="%s" rx="%d"/>`, num(n.X), num(n.Y), num(n.W), num(n.H), map[bool]int{true: 12, false: 4}[n.Kind == State])
	for i, line := range n.lines() {
		class := "name"
		if i > 0 {
			class = "detail"
		}
		s.printf(`<text class="%s" x="%s" y="%s">%s</text>`, class, num(n.X+boxPad), num(n.Y+boxPad/2+lineHeight*float64(i)+12), escape(line))
	}
	if mark := n.badge(); mark != "" {
		s.printf(`<text class="badge" x="%s" y="%s">%s</text>`, num(n.X+n.W-5), num(n.Y-3), escape(mark))
	}
	fmt.Fprint(s.b, "</g>")
	if link != "" {
		fmt.Fprint(s.b, "</a>")
	}
	fmt.Fprintln(s.b)
}

// badge is the symbol of the status, with the count of more than one.
func (n *Node) badge() string {
	out := symbols[n.Mark.Status] + changeSymbols[n.Change]
	if n.Mark.Count > 1 {
		out += " ×" + strconv.Itoa(n.Mark.Count)
	}
	return out
}

func (n *Node) hidden() string {
	if n.Hidden == 1 {
		return "… 1 activity"
	}
	return "… " + strconv.Itoa(n.Hidden) + " activities"
}

// describe is what a box says, whole and in words.
func (n *Node) describe() string {
	parts := []string{n.Type}
	add := func(format, s string) {
		if s != "" {
			parts = append(parts, fmt.Sprintf(format, s))
		}
	}
	if n.Kind == State {
		parts[0] = "state " + n.Type
	}
	add("%s", n.Name)
	add("%s", n.Detail)
	add("may take %s", n.Clock)
	add("tried %s times", n.Retry)
	if n.Kind == Folded {
		add("%s not drawn", strings.TrimPrefix(n.hidden(), "… "))
	}
	add("%s", n.ID)
	add("%s", string(n.Change))
	if n.Mark.Status != NotRun {
		text := string(n.Mark.Status)
		if !n.Mark.Since.IsZero() {
			text += " since " + n.Mark.Since.UTC().Format("2006-01-02 15:04:05 UTC")
		}
		if n.Mark.Count > 1 {
			text += fmt.Sprintf(", %d times", n.Mark.Count)
		}
		add("%s", text)
	}
	if parts[0] == "" {
		parts = parts[1:]
	}
	return strings.Join(parts, ", ")
}
