package markdown_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/weft-run/weft/internal/people/console/markdown"
)

func TestMarkdownIsShown(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"See the *policy*. **Now**.":      "<p>See the <em>policy</em>. <strong>Now</strong>.</p>\n",
		"- a\n- b":                        "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n",
		"# Big":                           "<h3>Big</h3>\n",
		"###### Small":                    "<h6>Small</h6>\n",
		"[it](https://example.com/a?b)":   `<p><a href="https://example.com/a?b" rel="nofollow noopener noreferrer">it</a></p>` + "\n",
		"[it](mailto:anna@example.com)":   `<p><a href="mailto:anna@example.com" rel="nofollow noopener noreferrer">it</a></p>` + "\n",
		"`a < b` & c":                     "<p><code>a &lt; b</code> &amp; c</p>\n",
		"![a *cat*](https://e.org/x.png)": "<p>a <em>cat</em></p>\n",
		"[x](javascript:alert(1)) y":      "<p>x y</p>\n",
		"<javascript:a&b>":                "<p>javascript:a&amp;b</p>\n",
		"":                                "",
	} {
		if got := string(markdown.HTML(source)); got != want {
			t.Errorf("%q is %q, want %q", source, got, want)
		}
	}
}

// hostile is what somebody may write to have a page do something.
var hostile = []string{
	"<script>alert(1)</script>", "a <img src=x onerror=alert(1)> b", "<svg/onload=alert(1)>", "<a href=\"javascript:alert(1)\">x</a>", "<iframe src=//evil></iframe>",
	"[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](java\tscript:alert(1))", "[x](&#106;avascript:alert(1))", "[x](javascript&colon;alert(1))", "[x]( javascript:alert(1))", "[x](\u0001javascript:alert(1))",
	"[x](data:text/html;base64,PHNjcmlwdD4=)", "[x](vbscript:x)", "[x](file:///etc/passwd)", "[x](//evil.example)", "[x](/console/do/cancelInstance)", "[x](#a)", "[x](\\\\evil)", "<javascript:alert(1)>", "<data:text/html,x>", "<ssh://evil>",
	"![x](javascript:alert(1))", "![x](https://evil/pixel.png)", "![x\" onerror=\"alert(1)](https://evil)", "[x](https://a \"t\\\" onmouseover=alert(1)\")", "[x](https://a\"onmouseover=alert(1))",
	"[a]: javascript:alert(1)\n[x][a]", "[![x](javascript:a)](javascript:b)", "[![x](https://a)](https://b)", "<!-- x --><style>*{}</style>", "```\"><script>\nx\n```", "~~~ x\" onload=\"y\nz\n~~~", "<a@b.c\"onclick=x>",
	"# x {onclick=alert(1)}", "\x00<script>", "<scr\x00ipt>", "[x](https:javascript)", "&lt;script&gt;alert(1)&lt;/script&gt;",
	strings.Repeat("> ", 8000) + "x", strings.Repeat("[", 16000), strings.Repeat("*a", 8000), strings.Repeat("![x](", 3000), strings.Repeat("<a", 8000), strings.Repeat("- ", 8000), strings.Repeat("`", 16000), strings.Repeat("x", 100_000) + "<script>",
}

func TestHostileMarkdownIsTame(t *testing.T) {
	t.Parallel()
	for _, source := range hostile {
		wantTame(t, source)
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, source := range hostile[:len(hostile)-8] {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) { wantTame(t, source) })
}

var (
	elements = " p em strong ul ol li h3 h4 h5 h6 a code pre blockquote hr br "
	allowed  = map[string]string{"a": " href rel title ", "code": " class ", "p": " class ", "ol": " start "}
)

// wantTame reads markup as a browser does, and looks for what may not be in it.
func wantTame(t *testing.T, source string) {
	t.Helper()
	shown := string(markdown.HTML(source))
	if len(shown) > 700_000 {
		t.Errorf("%.40q has %d bytes", source, len(shown))
	}
	z := html.NewTokenizer(strings.NewReader(shown))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) {
				t.Errorf("%.80q: %v", source, z.Err())
			}
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			if !strings.Contains(elements, " "+token.Data+" ") {
				t.Errorf("%.80q has the element %s: %.200s", source, token.Data, shown)
			}
			for _, a := range token.Attr {
				if !strings.Contains(allowed[token.Data], " "+a.Key+" ") {
					t.Errorf("%.80q has the attribute %s of %s: %.200s", source, a.Key, token.Data, shown)
				}
				if lower := strings.ToLower(a.Val); a.Key == "href" && !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://") && !strings.HasPrefix(lower, "mailto:") {
					t.Errorf("%.80q leads to %q", source, a.Val)
				}
			}
		}
	}
}
