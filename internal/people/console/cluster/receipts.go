package cluster

import (
	"time"

	"github.com/weft-run/weft/internal/people/console/page"
)

type receiptList struct {
	Key      string
	Receipts []receipt
	More     bool
	Revision int64
}

type receipt struct {
	Request, Caller *string
	At              *time.Time
	KeptUntil       time.Time
	Open            bool
	ResponseStatus  *int
	Effects         []fate
	Unlisted        int
	Damaged         bool
	Damage          string
}

type fate struct {
	State, CommandID                           string
	InstanceID, Code, Detail, Item, DeadLetter *string
	Outcome                                    string
	LetterGone                                 bool `json:"deadLetterGone"`
	Commit                                     *struct {
		Sequence, Fence int64
		NodeID          *string
		At              *time.Time
	}
}

type receiptsView struct {
	Key   string
	Found *receiptList
}

// Receipts tells what became of the requests that came with a key.
func Receipts(v *page.Visit) (string, any, error) {
	view := receiptsView{Key: v.Request.URL.Query().Get("key")}
	if view.Key == "" {
		return "Receipts", view, nil
	}
	var err error
	view.Found, err = page.IfThere[receiptList](v, page.At("receipts", view.Key), nil)
	return "Receipts", view, err
}
