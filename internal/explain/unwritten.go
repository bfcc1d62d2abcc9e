package explain

import (
	"fmt"
	"strings"

	"github.com/weft-run/weft/internal/store"
)

// takeUnwritten tells of what the last commit decided and left to be written behind it, as it is wider than a
// transaction: until then the lists of tasks, timers and what waits say something else than the instance.
func (x *Explanation) takeUnwritten(f *facts) {
	left := f.Record.Unwritten
	if left == nil {
		return
	}
	r := Reason{Kind: "unwritten", Since: left.At, Key: f.Keys.Instance}
	r.Text = "its last commit was too wide for one transaction, and not all of it is in the lists of tasks, timers and what waits yet: " + decided(left, len(f.Record.Header.Bookmarks)+f.Record.Header.MoreWaits)
	switch {
	case x.Owner != nil && !x.Owner.Gone:
		r.Text += "; the node that has it writes that before anything else"
	case len(x.Mail) > 0:
		r.Text += "; the node that takes it writes that before anything else"
	default:
		r.Text += "; nothing tells a node to write it"
		x.do("run weft fsck, which names it index-unwritten; weft fsck --repair puts the command by which a node writes it")
	}
	x.aside = append(x.aside, r)
}

// decided says what is to be written, of an instance that waits at so many places now.
func decided(left *store.Unwritten, waits int) string {
	made := 0
	for _, s := range left.Made {
		made += s.To - s.From
	}
	var parts []string
	if left.Delete {
		parts = append(parts, "it is deleted")
	}
	if n := len(left.Gone); n > 0 {
		more := ""
		if left.More {
			more = "more than "
		}
		parts = append(parts, more+placesOf(n)+" where it does not wait any more")
	}
	if made > 0 {
		parts = append(parts, placesOf(made)+" where it waits since")
	}
	if moved := waits - made; left.Moved && moved > 0 {
		parts = append(parts, placesOf(moved)+" that have its new correlation")
	}
	if len(parts) == 0 {
		return "nothing but that it is done"
	}
	return strings.Join(parts, ", ")
}

func placesOf(n int) string {
	if n == 1 {
		return "1 place"
	}
	return fmt.Sprintf("%d places", n)
}
