package tasks

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// claimText is how a claim is written for its worker. Times are milliseconds.
type claimText struct {
	ID       string `json:"i"`
	Task     string `json:"b,omitempty"` // a program of before did not say
	Name     string `json:"n,omitempty"`
	Created  int64  `json:"c"`
	Revision int64  `json:"r"`
	Until    int64  `json:"u"`
	Worker   string `json:"w"`
	Since    int64  `json:"s,omitempty"`
	Attempt  int    `json:"a,omitempty"`
	Retried  bool   `json:"t,omitempty"`
	DoneBy   int64  `json:"d,omitempty"`
	Form     string `json:"f,omitempty"`
}

// mostClaim is how many bytes the text of a claim has at most.
const mostClaim = 2048

// ClaimText is the text by which a worker names its claim of a task. It is no secret, and proves nothing but which claim is meant.
func ClaimText(task string, c *workflow.TaskClaim) string {
	text := claimText{ID: c.ID, Task: task, Name: c.Name, Created: c.Created.UnixMilli(), Revision: c.Revision, Until: c.Until.UnixMilli(), Worker: c.Worker,
		Since: c.Since.UnixMilli(), Attempt: c.Attempt, Retried: c.Retried, Form: c.Form}
	if !c.DoneBy.IsZero() {
		text.DoneBy = c.DoneBy.UnixMilli()
	}
	raw, _ := json.Marshal(text) // of texts and numbers
	return base64.RawURLEncoding.EncodeToString(raw)
}

var errNoClaim = errors.New("it is not what POST /tasks/claim gave as claim: send that as it is")

// ParseClaim reads the text of a claim of a task. The error is for who sent it.
func ParseClaim(task, text string) (*workflow.TaskClaim, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	var c claimText
	if len(text) > mostClaim || err != nil || json.Unmarshal(raw, &c) != nil || c.Revision <= 0 || workflow.CheckName("name", c.Name) != nil || workflow.CheckName("worker", c.Worker) != nil || workflow.CheckName("form", c.Form) != nil {
		return nil, errNoClaim
	}
	if c.Task != "" && c.Task != task {
		return nil, fmt.Errorf("it is of task %s, and not of %s: send what the same item of POST /tasks/claim has as taskId and as claim", c.Task, task)
	}
	claim := &workflow.TaskClaim{ID: c.ID, Name: c.Name, Created: time.UnixMilli(c.Created).UTC(), Revision: c.Revision, Until: time.UnixMilli(c.Until).UTC(), Worker: c.Worker,
		Since: time.UnixMilli(c.Since).UTC(), Attempt: c.Attempt, Retried: c.Retried, Form: c.Form}
	if c.DoneBy > 0 {
		claim.DoneBy = time.UnixMilli(c.DoneBy).UTC()
	}
	return claim, nil
}
