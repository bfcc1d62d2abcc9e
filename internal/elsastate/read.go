package elsastate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// MaxFile is how many bytes an exported instance may have.
const MaxFile = 64 << 20

// Instance is an instance as Elsa exported it.
type Instance struct {
	ID           string
	DefinitionID string
	Version      int // of the definition, as Elsa counts them
	SubStatus    string
	Parent       string // the instance that started it; "": none did
	Awaited      bool   // that waits for its end

	state any
	at    string // where the state stands in the file, as a JSON pointer
}

// Ended tells that nothing of it runs or waits any more.
func (in *Instance) Ended() bool { return in.SubStatus == "Finished" || in.SubStatus == "Cancelled" }

// Looks reports whether JSON is an exported instance: what Elsa's export of instances gives, an instance of its API, or
// the state alone.
func Looks(src []byte) bool {
	var top struct {
		WorkflowState             json.RawMessage
		ActivityExecutionContexts json.RawMessage
	}
	return json.Unmarshal(src, &top) == nil && (len(top.WorkflowState) > 0 && top.WorkflowState[0] == '{' || len(top.ActivityExecutionContexts) > 0)
}

// Read reads an exported instance. An error says what is wrong with the file.
func Read(src []byte) (*Instance, error) {
	if len(src) > MaxFile {
		return nil, fmt.Errorf("it has %d bytes, and an instance may have %d", len(src), MaxFile)
	}
	in := &Instance{}
	part, at, err := stateOf(src)
	if err == nil {
		in.at = at
		in.state, err = plain(part)
	}
	if err != nil {
		return nil, err
	}
	in.ID, in.DefinitionID, in.Parent = text(in.state, "id"), text(in.state, "definitionId"), text(in.state, "parentWorkflowInstanceId")
	in.SubStatus = named(get(in.state, "subStatus"), "Pending", "Executing", "Suspended", "Finished", "Cancelled", "Faulted", "Interrupted")
	if n, ok := number(in.state, "definitionVersion"); ok {
		in.Version = int(n)
	}
	if in.Parent == "" { // before 3.4 it was a property
		in.Parent = text(get(in.state, "properties"), "ParentInstanceId")
	}
	in.Awaited = flag(get(in.state, "properties"), "WaitForCompletion")
	switch {
	case in.ID == "":
		return nil, errors.New("the state has no id")
	case in.DefinitionID == "":
		return nil, errors.New("the state does not say of which definition it is")
	case in.SubStatus == "":
		return nil, errors.New("the state has no subStatus")
	}
	if err := workflow.CheckID("the id of the instance", in.ID); err != nil {
		return nil, err
	}
	return in, nil
}

// stateOf is the state in a file, and where it stands there. What stands beside it counts its objects from 1 again.
func stateOf(src []byte) (part []byte, at string, err error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	var top map[string]json.RawMessage
	if err := json.Unmarshal(src, &top); err != nil {
		return nil, "", fmt.Errorf("it is no JSON object that can be read: %w", err)
	}
	for _, name := range []string{"WorkflowState", "workflowState"} {
		if part := top[name]; len(part) > 0 && part[0] == '{' {
			return part, "/" + name, nil
		}
	}
	return src, "", nil
}

// named is a member of an enumeration, which Elsa's API writes by its name and some stores by its number.
func named(v any, names ...string) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		if i, err := v.Int64(); err == nil && i >= 0 && int(i) < len(names) {
			return names[i]
		}
	}
	return ""
}

// moment is a time; false: it is none.
func moment(v any, name string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339Nano, text(v, name))
	return at.UTC(), err == nil && workflow.KeepsTime(at)
}
