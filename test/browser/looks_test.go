package browser

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var record = flag.Bool("record", false, "record how screens look")

// tile is how many pixels become one of a recorded look. A look is the screen in its colours,
// seen from so far that no letter can be read: it keeps where things are, how large, and in
// which colour, and does not keep how a version of a browser draws the edge of a letter.
const tile = 12

// TestScreensLookAsTheyDid compares screens, light and dark, with recorded looks. After a change
// that is meant:
//
//	go -C test/browser test -run TestScreensLookAsTheyDid -record
//
// and look at the pages themselves, and at what testdata/looks has now.
func TestScreensLookAsTheyDid(t *testing.T) {
	n := start(t, "", "--node-id", "one")
	api := "http://" + n.addr + "/api/v1"
	call(t, "POST", api+"/definitions", "", order)
	call(t, "POST", api+"/definitions", "", "id: breaks\nroot:\n  - fault: no stock\n")
	for i := range 12 {
		call(t, "POST", api+"/definitions/order/dispatch", "", fmt.Sprintf(`{"instanceId": "order-%02d", "correlationId": "o-%02d"}`, i, i))
	}
	call(t, "POST", api+"/definitions/breaks/dispatch", "", `{"instanceId": "broken-1"}`)
	b := browse(t, "http://"+n.addr)
	b.open("/console/instances/broken-1")
	b.until("it is faulted", "document.querySelector('h1 .status').innerText.includes('Faulted')")
	b.open("/console/instances?q=status:suspended")
	b.until("all wait", "document.querySelectorAll('tbody tr').length === 12")
	if other := b.font(); !*record && other != "" {
		why := "this machine has other fonts than the one of the looks (" + other + "), so that lines break elsewhere: install fonts-dejavu-core"
		if os.Getenv("WEFT_REQUIRE_TOOLS") != "" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	for _, theme := range []string{"light", "dark"} {
		b.theme(theme)
		for name, path := range map[string]string{
			"instances": "instances?q=def:order", "instance": "instances/order-03?tab=waits", "incident": "instances/broken-1", "definition": "definitions/order", "activities": "activities?q=flow", "timers": "timers",
		} {
			b.open("/console/" + path)
			b.until("it is whole", "document.readyState === 'complete' && document.querySelector('footer') !== null")
			// What differs from run to run keeps its place and is not seen, also if the page renews
			// itself before the picture is taken. A column is as wide whatever stands in it: a time so
			// far gets longer.
			_ = eval[bool](b, `(() => {
				const unseen = new CSSStyleSheet();
				unseen.replaceSync("time, [data-age], footer, .facts dd, .quiet, .none { visibility: hidden !important } table { table-layout: fixed !important; width: 100% !important } td, th { overflow: hidden; white-space: nowrap !important } td *, th * { white-space: nowrap !important }");
				document.adoptedStyleSheets.push(unseen);
				return true;
			})()`)
			b.looks(name + "-" + theme)
		}
	}
	b.clean()
}

const looks = "testdata/looks"

// font tells what is other about the machine's font than about that of the recorded looks.
func (b *tab) font() string {
	b.t.Helper()
	is := fmt.Sprintf("%.0f", eval[float64](b, `(() => { const c = document.createElement("canvas").getContext("2d"); c.font = getComputedStyle(document.body).font; return c.measureText("Wait for approval of 12,345 orders – ○ ✓ ✕").width })()`))
	path := filepath.Join(looks, "font.txt")
	if *record {
		if err := os.MkdirAll(looks, 0o750); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(is+"\n"), 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	was, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	if text := strings.TrimSpace(string(was)); text != is {
		return fmt.Sprintf("a line of %s pixels there has %s here", text, is)
	}
	return ""
}

// looks compares a screen with its recorded look, until it is drawn whole: a picture, a list that
// renews itself and a colour that changes slowly may come late.
func (b *tab) looks(name string) {
	b.t.Helper()
	path := filepath.Join(looks, name+".png")
	if *record {
		b.record(path)
		return
	}
	file, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	was, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		b.t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		raw, is := b.screen()
		part, where := differs(was, is)
		if part <= mayDiffer {
			return
		}
		if time.Now().After(deadline) {
			keep := filepath.Join(b.t.ArtifactDir(), name+".png")
			if err := os.WriteFile(keep, raw, 0o600); err != nil {
				b.t.Error(err)
			}
			b.t.Errorf("%s: %.1f %% of it look otherwise, in %v; it is in %s", name, 100*part, where, keep)
			return
		}
	}
}

// record keeps a screen that stays as it is for some pictures.
func (b *tab) record(path string) {
	b.t.Helper()
	_, is := b.screen()
	for same := 0; same < 10; {
		_, next := b.screen()
		if part, _ := differs(is, next); part == 0 {
			same++
		} else {
			same = 0
		}
		is = next
	}
	var out bytes.Buffer
	if err := png.Encode(&out, is); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) screen() (raw []byte, afar *image.RGBA) {
	b.t.Helper()
	raw, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	screen, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		b.t.Fatal(err)
	}
	return raw, fromAfar(screen)
}

// fromAfar makes one pixel of each tile, in its mean colour.
func fromAfar(screen image.Image) *image.RGBA {
	r := screen.Bounds()
	small := image.NewRGBA(image.Rect(0, 0, r.Dx()/tile, r.Dy()/tile))
	for y := range small.Rect.Dy() {
		for x := range small.Rect.Dx() {
			var sum [3]uint64
			for dy := range tile {
				for dx := range tile {
					red, green, blue, _ := screen.At(r.Min.X+x*tile+dx, r.Min.Y+y*tile+dy).RGBA()
					sum[0], sum[1], sum[2] = sum[0]+uint64(red>>8), sum[1]+uint64(green>>8), sum[2]+uint64(blue>>8)
				}
			}
			mean := func(i int) uint8 { return uint8(sum[i] / (tile * tile)) }
			small.SetRGBA(x, y, color.RGBA{mean(0), mean(1), mean(2), 255})
		}
	}
	return small
}

const (
	// shade is by how much a tile may be lighter or darker, of 255: letters that are drawn a
	// little otherwise.
	shade = 20
	// mayDiffer is which part of the tiles may differ by more.
	mayDiffer = 0.004
)

// differs tells which part of two looks differs, and the rectangle around it, in tiles.
func differs(was, is image.Image) (part float64, where image.Rectangle) {
	a, b := was.Bounds(), is.Bounds()
	if a.Dx() != b.Dx() || a.Dy() != b.Dy() {
		return 1, b
	}
	n := 0
	for y := range a.Dy() {
		for x := range a.Dx() {
			r1, g1, b1, _ := was.At(a.Min.X+x, a.Min.Y+y).RGBA()
			r2, g2, b2, _ := is.At(b.Min.X+x, b.Min.Y+y).RGBA()
			far := func(p, q uint32) bool { return math.Abs(float64(p>>8)-float64(q>>8)) > shade }
			if far(r1, r2) || far(g1, g2) || far(b1, b2) {
				n++
				where = where.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return float64(n) / float64(a.Dx()*a.Dy()), where
}

// What is compared sees what a person sees: a thing that moved, is gone, or has another colour,
// and not a letter that is drawn otherwise.
func TestLooksAreCompared(t *testing.T) {
	page := func(x, y int, ink color.Color) image.Image {
		img := image.NewRGBA(image.Rect(0, 0, 1280, 900))
		for i := range img.Pix {
			img.Pix[i] = 250
		}
		for dy := range 40 { // a button
			for dx := range 160 {
				img.Set(x+dx, y+dy, ink)
			}
		}
		return img
	}
	blue, red := color.RGBA{11, 92, 120, 255}, color.RGBA{163, 32, 32, 255}
	was := page(100, 300, blue)
	letters := page(100, 300, blue)
	for x := 400; x < 900; x += 7 { // the edges of letters
		letters.(*image.RGBA).Set(x, 500, color.RGBA{200, 200, 200, 255})
	}
	for what, c := range map[string]struct {
		is   image.Image
		same bool
	}{
		"the same":         {page(100, 300, blue), true},
		"letters":          {letters, true},
		"a pixel beside":   {page(101, 300, blue), true},
		"moved":            {page(100, 360, blue), false},
		"gone":             {page(2000, 0, blue), false},
		"of another color": {page(100, 300, red), false},
		"narrower":         {image.NewRGBA(image.Rect(0, 0, 390, 900)), false},
	} {
		part, where := differs(fromAfar(was), fromAfar(c.is))
		if (part <= mayDiffer) != c.same {
			t.Errorf("%s: %.4f differs, in %v", what, part, where)
		}
	}
}
