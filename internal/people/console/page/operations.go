package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/weft-run/weft/internal/auth"
)

// Operation is one that openapi.json describes: what a form may ask for.
type Operation struct {
	Method, Path string
	role         auth.Role
}

// readOperations reads what the API can do, and who may do it, from its own description.
func (s *Site) readOperations() (map[string]Operation, error) {
	r, err := http.NewRequest(http.MethodGet, "/openapi.json", nil)
	if err != nil {
		return nil, err
	}
	r.Host = "localhost"
	to := &Answer{Head: http.Header{}}
	self := func() (*auth.Principal, error) { return &auth.Principal{Name: "console", Role: auth.Viewer}, nil }
	s.Config.API.ServeHTTP(to, r.WithContext(auth.WithCaller(r.Context(), self)))
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string                `json:"operationId"`
			Security    []map[string][]string `json:"security"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(to.Body.Bytes(), &doc); err != nil {
		return nil, fmt.Errorf("console: read openapi.json: %w", err)
	}
	found := map[string]Operation{}
	for path, methods := range doc.Paths {
		below, ok := strings.CutPrefix(path, api)
		if !ok {
			continue
		}
		for method, op := range methods {
			o := Operation{Method: strings.ToUpper(method), Path: below, role: auth.Anyone}
			for _, one := range op.Security {
				for _, names := range one {
					for _, name := range names {
						if o.role, err = auth.ParseRole(name); err != nil {
							return nil, fmt.Errorf("console: %s: %w", op.OperationID, err)
						}
					}
				}
			}
			found[op.OperationID] = o
		}
	}
	return found, nil
}

// May tells why the reader of a page may not do something; "": it may.
func (p Page) May(op string) string {
	o, ok := p.operations[op]
	switch {
	case !ok:
		return "this node's program cannot do it"
	case p.Role >= o.role:
		return ""
	}
	return "this needs the role " + o.role.String()
}

// done says what an action did, for the page that comes behind it.
var done = map[string]string{
	"alterInstance": "The change was taken.", "cancelInstance": "The cancel was taken.", "retryInstance": "The retry was taken.", "deleteInstance": "The instance is deleted.",
	"completeUserTask": "Your decision was taken.", "claimUserTask": "The task is yours.", "releaseUserTask": "The task was given back.",
	"assignUserTask": "The task is that person's.", "delegateUserTask": "The task is that person's.", "commentUserTask": "Your comment was taken.", "cancelUserTask": "The task was cancelled.",
	"retryInstances": "The faulted instances are tried again.", "completeTask": "The task is completed.", "resumeBookmark": "The instance was resumed.",
	"replayDeadLetter": "The dead letter was sent again.", "deleteDeadLetter": "The dead letter is deleted.", "deleteQueueItem": "The item is deleted.",
	"sendQueueItem": "The item was sent again.", "pause": "The cluster is paused.", "unpause": "The cluster goes on.", "drainNode": "The node drains and then ends.",
	"createJob": "The job was taken; it goes on without this page.", "cancelJob": "The job goes no further.", "deleteJob": "The job is forgotten.",
	"publishVersion": "The version is published.", "retractDefinition": "The definition is retracted.", "deleteDefinition": "The definition is deleted.",
	"skipSchedule": "The next occurrence is skipped, unless it was fired in the meantime.",
	"theme":        "", "signed-in": "",
}
