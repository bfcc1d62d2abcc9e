package serve

import (
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// A write that had no answer says that etcd is full, where it is, and stays unknown; where there is room
// nothing is added.
func TestAWriteWithoutAnAnswerSaysThatEtcdIsFull(t *testing.T) {
	t.Parallel()
	e := &workflow.Error{Code: workflow.CodeUnknownOutcome, Detail: "it may have been applied", RetryAfter: time.Second}
	full := intake.Tell(intake.Full, etcdstore.Space{NoSpace: true, Quota: 190 << 20})
	told := toldFull(e, full)
	if told.Code != e.Code || !strings.HasPrefix(told.Detail, e.Detail) || !strings.HasSuffix(told.Detail, full.Line()) || told.RetryAfter != e.RetryAfter {
		t.Errorf("%+v", told)
	}
	if got := toldFull(e, intake.Fullness{}); got.Detail != e.Detail {
		t.Errorf("%+v", got)
	}
}
