package engine

import "github.com/weft-run/weft/pkg/workflow"

// TakeResponse gives what WriteHttpResponse wrote since the last call, so that a
// burst of several commands answers each with its own; nil if there is nothing.
func (b *Burst) TakeResponse() *workflow.Response {
	r := b.response
	b.response = nil
	return r
}

// Waiting finds a bookmark at which the instance waits for a stimulus of this
// hash. correlation restricts it to instances of that correlation; "" does not.
func (b *Burst) Waiting(hash, correlation string) (bookmarkID string, ok bool) {
	if b.halted || correlation != "" && correlation != b.header.CorrelationID {
		return "", false
	}
	for _, m := range b.marks {
		if m.Bookmark.Hash == hash {
			return m.Bookmark.ID, true
		}
	}
	return "", false
}
