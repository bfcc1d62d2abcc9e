package activity

import (
	"fmt"
	"strings"

	"github.com/weft-run/weft/internal/authoring/edit/text"
	"github.com/weft-run/weft/pkg/workflow"
)

// Change is an edit in the making: what it does to the text, and the activities that are there.
type Change struct {
	Text  *text.Draft
	Sites *Sites
	Given []string // ids of what is new
}

// Piece makes one of a new activity.
func (c *Change) Piece(f Fresh) (*text.Piece, error) {
	p := &text.Piece{}
	if c.Text.JSON {
		fields, err := c.Sites.Elsa(f)
		if err != nil {
			return nil, err
		}
		p.Text = func(_ bool, column int) (string, error) { return c.Text.JSONText(fields, column) }
	} else {
		p.Text = func(flow bool, column int) (string, error) {
			text, err := c.Sites.YAML(f, flow)
			return c.Text.Indented(text, column), err
		}
	}
	return c.Text.ReadPiece(p)
}

// FreeID makes up an id that no activity has.
func (c *Change) FreeID(typ string) string {
	base := workflow.LowerFirst(typ[strings.LastIndexByte(typ, '.')+1:])
	base = strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '-'
	}, base)
	taken := map[string]bool{}
	for _, s := range c.Sites.Order {
		taken[s.Activity.ID] = true
	}
	for _, id := range c.Given {
		taken[id] = true
	}
	for n := 1; ; n++ {
		if id := fmt.Sprintf("%s%d", base, n); !taken[id] {
			return id
		}
	}
}
