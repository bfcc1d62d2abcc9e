package store

import "time"

// Balance tells what was accepted durably and what became of it, as counted from etcd's
// log between two revisions. What is there at the first one counts as accepted.
//
// A stimulus counts once for each place that it is for, as soon as these are known; what
// becomes something else (a queue item a command, a command a dead letter) is counted once.
type Balance struct {
	Etcd     string    `json:"etcd"`    // the id of the etcd cluster whose revisions these are
	Since    int64     `json:"since"`   // from this revision on it is counted
	Began    time.Time `json:"began"`   // when that was
	Because  string    `json:"because"` // why it does not go back further
	Revision int64     `json:"revision"`
	At       time.Time `json:"at"`   // when it was put
	Node     string    `json:"node"` // that counted last

	Accepted int64   `json:"accepted"`
	Applied  int64   `json:"applied"`            // an instance has dealt with it
	Refused  int64   `json:"refused,omitempty"`  // it had no effect, and a record says why
	Deleted  int64   `json:"deleted,omitempty"`  // dead letters that somebody or retention deleted
	SetAside int64   `json:"setAside,omitempty"` // by weft fsck --repair
	Waiting  Waiting `json:"waiting"`
	Rests    int64   `json:"rests,omitempty"` // ~continue in mailboxes: no accepted work, and in no other count

	Difference int64  `json:"difference"`
	Lost       []Lost `json:"lost,omitempty"` // what makes the difference, the first of it
}

// Waiting is what is there at one revision.
type Waiting struct {
	Mailboxes int64 `json:"mailboxes"`
	Queue     int64 `json:"queue"`
	Sends     int64 `json:"sends"`
	Dead      int64 `json:"dead"`
}

// Lost is a key that went without a reason.
type Lost struct {
	Key      string `json:"key"`
	Revision int64  `json:"revision"`
}

// MaxLost is how many of those a balance names.
const MaxLost = 100

// Settle sets the difference that follows from what was counted.
func (b *Balance) Settle() {
	w := b.Waiting
	b.Difference = b.Accepted - b.Applied - b.Refused - b.Deleted - b.SetAside - w.Mailboxes - w.Queue - w.Sends - w.Dead
}
