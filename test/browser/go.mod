// Tests of the console in a real browser, in a module of their own: they need a
// driver of Chromium, and the product does not. They run the node as a program.
module github.com/weft-run/weft/test/browser

go 1.26.8

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
)

require github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
