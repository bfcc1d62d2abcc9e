package tasks

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// claimText is how a claim is written for its worker. Times are milliseconds.
type claimText struct {
	ID       string `json:"i"`
	Name     string `json:"n,omitempty"`
	Created  int64  `json:"c"`
	Revision int64  `json:"r"`
	Until    int64  `json:"u"`
	Worker   string `json:"w"`
	Form     string `json:"f,omitempty"`
}

// mostClaim is how many bytes the text of a claim has at most.
const mostClaim = 2048

// ClaimText is the text by which a worker names its claim. It is no secret, and proves nothing but which claim is meant.
func ClaimText(c *workflow.TaskClaim) string {
	raw, _ := json.Marshal(claimText{c.ID, c.Name, c.Created.UnixMilli(), c.Revision, c.Until.UnixMilli(), c.Worker, c.Form}) // of texts and numbers
	return base64.RawURLEncoding.EncodeToString(raw)
}

var errNoClaim = errors.New("it is not what POST /tasks/claim gave as claim: send that as it is")

// ParseClaim reads the text of a claim.
func ParseClaim(text string) (*workflow.TaskClaim, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	var c claimText
	if len(text) > mostClaim || err != nil || json.Unmarshal(raw, &c) != nil || c.Revision <= 0 || workflow.CheckName("name", c.Name) != nil || workflow.CheckName("worker", c.Worker) != nil || workflow.CheckName("form", c.Form) != nil {
		return nil, errNoClaim
	}
	return &workflow.TaskClaim{ID: c.ID, Name: c.Name, Created: time.UnixMilli(c.Created).UTC(), Revision: c.Revision, Until: time.UnixMilli(c.Until).UTC(), Worker: c.Worker, Form: c.Form}, nil
}
