package upkeep

import (
	"log/slog"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/disk"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep/retention"
)

// Levels come at their bounds and go below them, so that a store at a bound does
// not make nodes refuse and take by turns.
func TestLevelsAreLeftBelowWhereTheyAreEntered(t *testing.T) {
	t.Parallel()
	at := func(inUse, allocated int64) etcdstore.Space {
		return etcdstore.Space{InUse: inUse, Allocated: allocated, Quota: 1000}
	}
	onDisk := func(mib int64) etcdstore.Space {
		return etcdstore.Space{Quota: 1000, Disk: disk.Space{Dir: "/data", Free: mib << 20, Size: 1 << 40}}
	}
	reserved := func(mib, reserve int64) etcdstore.Space {
		sp := onDisk(mib)
		sp.Disk.Reserve = reserve << 20
		return sp
	}
	for _, c := range []struct {
		was  intake.Level
		sp   etcdstore.Space
		want intake.Level
	}{
		{intake.Roomy, at(699, 700), intake.Roomy},
		{intake.Roomy, at(700, 700), intake.NearlyFull},
		{intake.Roomy, at(850, 850), intake.Full},
		{intake.NearlyFull, at(651, 700), intake.NearlyFull},
		{intake.NearlyFull, at(649, 700), intake.Roomy},
		{intake.NearlyFull, at(849, 850), intake.NearlyFull},
		{intake.Full, at(801, 850), intake.Full},
		{intake.Full, at(799, 850), intake.NearlyFull},
		{intake.Full, at(100, 850), intake.Roomy},
		{intake.Roomy, at(100, 949), intake.Roomy},
		{intake.Roomy, at(100, 951), intake.NearlyFull},
		{intake.NearlyFull, at(100, 935), intake.NearlyFull},
		{intake.NearlyFull, at(100, 925), intake.Roomy},
		{intake.Roomy, at(100, 985), intake.Full},
		{intake.Roomy, etcdstore.Space{InUse: 1, Allocated: 1, Quota: 1000, NoSpace: true}, intake.Full},
		{intake.Roomy, onDisk(255), intake.NearlyFull},
		{intake.NearlyFull, onDisk(300), intake.NearlyFull},
		{intake.NearlyFull, onDisk(321), intake.Roomy},
		{intake.Roomy, onDisk(127), intake.Full},
		{intake.Full, onDisk(150), intake.Full},
		{intake.Roomy, onDisk(63), intake.OutOfDisk},
		{intake.OutOfDisk, onDisk(79), intake.OutOfDisk},
		{intake.OutOfDisk, onDisk(81), intake.Full},
		{intake.Roomy, reserved(1000, 1024), intake.NearlyFull},
		{intake.Roomy, reserved(500, 1024), intake.Full},
		{intake.Roomy, reserved(255, 1024), intake.OutOfDisk},
		{intake.Roomy, reserved(65, 64), intake.Roomy},
		{intake.OutOfDisk, etcdstore.Space{Quota: 1000}, intake.Roomy}, // nobody knows it any more
	} {
		if got := levelAfter(c.was, c.sp); got != c.want {
			t.Errorf("%d with %+v: %d, want %d", c.was, c.sp, got, c.want)
		}
	}
}

// Answers to keys are kept as promised as long as there is room; then a tenth of
// the quota is the limit, if none that is lower is configured.
func TestAnswersToKeysAreLimitedWhileEtcdIsNearlyFull(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		configured, inUse, want int64
	}{
		{0, 500, 0}, {0, 750, 100}, {50, 750, 50}, {200, 750, 100}, {200, 500, 200},
	} {
		w := worker{cfg: &Config{Log: slog.New(slog.DiscardHandler)}, intake: new(intake.Intake)}
		(&spaceWatch{w}).noteSpace(t.Context(), etcdstore.Space{InUse: c.inUse, Allocated: c.inUse, Quota: 1000})
		if got := retention.New(retention.Config{Limits: retention.Limits{IdempotencyBytes: c.configured}, Intake: w.intake}).Finished.Keep().IdempotencyBytes; got != c.want {
			t.Errorf("%d configured, %d of 1000 in use: %d, want %d", c.configured, c.inUse, got, c.want)
		}
	}
}

// A store that is nearly full is noticed before it is full, however fast it fills: the
// next look comes before that can be.
func TestLooksAtTheSizeComeBeforeALevel(t *testing.T) {
	t.Parallel()
	at := func(inUse, allocated, quota int64) *etcdstore.Space {
		return &etcdstore.Space{InUse: inUse << 20, Allocated: allocated << 20, Quota: quota << 20}
	}
	for _, c := range []struct {
		l    intake.Level
		sp   *etcdstore.Space
		want time.Duration
	}{
		{intake.Roomy, nil, spaceEvery}, // not known yet
		{intake.Roomy, at(1, 1, 2048), spaceMost},
		{intake.Roomy, at(1433-640, 1433-640, 2048), 5 * time.Second},
		{intake.Roomy, at(100, 1945-640, 2048), 5 * time.Second},
		{intake.Roomy, at(1430, 1430, 2048), spaceEvery},
		{intake.Roomy, at(1, 1, 16), spaceEvery},
		{intake.NearlyFull, at(1, 1, 2048), spaceEvery},
		{intake.Full, at(1, 1, 2048), spaceEvery},
	} {
		if got := spaceRest(c.l, c.sp).Round(100 * time.Millisecond); got != c.want {
			t.Errorf("level %d, %+v: %v, want %v", c.l, c.sp, got, c.want)
		}
	}
}
