package lookup

import (
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// NewHeader is the header of an instance that did not run yet.
func NewHeader(id string, cmd workflow.Command, at time.Time) workflow.Instance {
	st := cmd.Start
	return workflow.Instance{ID: id, DefinitionID: st.DefinitionID, Version: st.Version, Status: workflow.StatusRunning, SubStatus: workflow.Pending,
		Name: st.Name, CorrelationID: st.CorrelationID, Labels: st.Labels, Parent: st.Parent, Input: st.Input, CreatedAt: at, UpdatedAt: at}
}
