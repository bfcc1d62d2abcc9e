package front

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/pkg/workflow"
)

// Takes refuses an input with names that the activities of a type do not know: they
// would go on with nothing, and the bookmark would be gone. A type that this node's
// program does not have, or that does not say, takes anything.
func Takes(c *catalog.Catalog, activityType string, input map[string]any) error {
	d := c.Types().ByType(activityType)
	if d == nil || d.Type != activityType || d.Resume == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(input)) {
		switch {
		case slices.Contains(d.Resume, name), name == workflow.DepthProperty: // of an event that an instance published
		case len(d.Resume) == 0:
			return workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("input %q: %s takes no input", name, activityType))
		default:
			return workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("input %q is not one that %s knows%s; it takes %s", name, activityType,
				workflow.DidYouMean(name, d.Resume), strings.Join(d.Resume, ", ")))
		}
	}
	return nil
}

// StartsChildren reports whether bookmarks of an activity type wait for
// children.
func StartsChildren(activityType string) bool {
	return workflow.StartsInstances(activityType)
}

// MaxLooks bounds how often a call looks again because what it found moved.
const MaxLooks = 50

// CheckStimulus says in st which instance its bookmark is of, and refuses what is no id and no correlation.
func CheckStimulus(st *workflow.Stimulus) error {
	if st.BookmarkID != "" && st.InstanceID == "" {
		id, ok := workflow.BookmarkInstance(st.BookmarkID)
		if !ok {
			return workflow.Fail(workflow.CodeBookmarkNotFound, fmt.Sprintf("there is no bookmark %q", st.BookmarkID))
		}
		st.InstanceID = id
	}
	if err := workflow.CheckName("correlationId", st.CorrelationID); err != nil {
		return &workflow.Error{Code: workflow.CodeInvalid, Detail: err.Error()}
	}
	if st.InstanceID != "" {
		if err := workflow.CheckID("instanceId", st.InstanceID); err != nil {
			return &workflow.Error{Code: workflow.CodeInvalid, Detail: err.Error()}
		}
	}
	if StartsChildren(st.ActivityType) {
		return workflow.Fail(workflow.CodeBookmarkReserved, fmt.Sprintf("what waits at %s is resumed by a child's end, and by nothing else", st.ActivityType))
	}
	if st.ActivityType == workflow.LimitType {
		return workflow.Fail(workflow.CodeBookmarkReserved, fmt.Sprintf("what waits at %s is given its place by the limit, and by nothing else", st.ActivityType))
	}
	if st.ActivityType == "" {
		return workflow.Fail(workflow.CodeInvalid, "activityType is required")
	}
	return nil
}

// NotByHand refuses to make up an HTTP request: who may send one, and what its
// headers say, is looked at where requests come in.
func NotByHand(activityType string) error {
	if activityType != workflow.EndpointType {
		return nil
	}
	return workflow.Fail(workflow.CodeBookmarkReserved, fmt.Sprintf("what waits at %s takes an HTTP request and nothing else, since its endpoint may say who may send one: send it to /workflows/ and the path", activityType))
}
