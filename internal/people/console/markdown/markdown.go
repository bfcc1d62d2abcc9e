// Package markdown shows text that people or workflows wrote as Markdown.
//
// Guaranteed: what comes out has no markup of its writer: raw HTML is left out, images are their text, a link leads to http,
// https or mailto and nowhere else, and its page is not told where it was followed. A text of more than 4 KiB, and what
// would be much larger than its text, is shown as it is. Not guaranteed: that it looks as elsewhere; headings are small.
package markdown

import (
	"bytes"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// schemes are those that a link may have.
var schemes = []string{"http", "https", "mailto"}

const (
	mostShown = 64 << 10 // bytes of markup: deep quotes have many of few
	mostText  = 4 << 10  // of the text: some of it takes time that grows with its square
	lowest    = 6        // level of a heading
	below     = 3        // the levels that the page has itself
)

var converter = goldmark.New(goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(tame{}, 0))))

// HTML is the text as markup.
func HTML(source string) template.HTML {
	var out bytes.Buffer
	if len(source) > mostText || converter.Convert([]byte(source), &out) != nil || out.Len() > mostShown {
		return template.HTML(`<p class="said">` + template.HTMLEscapeString(source) + "</p>")
	}
	return template.HTML(out.String()) // raw HTML is left out by the renderer, and links and images by tame
}

// tame takes out of a parsed text what leads elsewhere than it may.
type tame struct{}

// Transform is called with the whole text.
func (tame) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
	var drop []ast.Node
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			n.Level = min(n.Level+below-1, lowest)
		case *ast.Link:
			if !leads(string(n.Destination)) {
				drop = append(drop, n)
			}
			n.SetAttributeString("rel", []byte("nofollow noopener noreferrer"))
		case *ast.AutoLink:
			if !leads(string(n.URL(reader.Source()))) {
				drop = append(drop, n)
			}
			n.SetAttributeString("rel", []byte("nofollow noopener noreferrer"))
		case *ast.Image:
			drop = append(drop, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range drop {
		parent := n.Parent()
		if auto, ok := n.(*ast.AutoLink); ok {
			parent.ReplaceChild(parent, n, ast.NewString(auto.Label(reader.Source())))
			continue
		}
		for child := n.FirstChild(); child != nil; { // its text stays
			next := child.NextSibling()
			parent.InsertBefore(parent, n, child)
			child = next
		}
		parent.RemoveChild(parent, n)
	}
}

// leads tells whether a link may lead there.
func leads(to string) bool {
	u, err := url.Parse(strings.TrimSpace(to))
	return err == nil && slices.Contains(schemes, strings.ToLower(u.Scheme)) && (u.Host != "" || u.Scheme == "mailto")
}
