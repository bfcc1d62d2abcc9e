package intake

import "github.com/weft-run/weft/internal/store/etcdstore"

// Level says how full etcd is.
type Level int32

// The levels, and what is refused at each.
const (
	Roomy      Level = iota
	NearlyFull       // starts
	Full             // all but what ends or deletes instances
)

// NearlyFullAt is the part of the quota from which on, in use, starts are refused.
const NearlyFullAt = 0.70

// Fullness is how full etcd is, in words. Errors, the log, the API, the console and the commands all take
// them from here, so that an operator who reads one of them finds the same in the others.
type Fullness struct {
	Level  Level
	Text   string // what is so, and what is refused; "": there is room
	Advice string // what to do
}

// Tell gives the words of a level.
func Tell(l Level, sp etcdstore.Space) Fullness {
	f := Fullness{Level: l}
	switch {
	case l == Roomy && !sp.NoSpace:
		return f
	case sp.NoSpace:
		f.Level = Full
		f.Text = "etcd is full: it has raised the alarm NOSPACE and takes nothing (retention still deletes) (" + sp.String() + ")"
		f.Advice = "run weft store repair, which makes room of what was deleted and takes the alarm back, then delete what nobody needs (weft store says what fills it): docs/runbooks/etcd-near-quota.md"
	case l == Full:
		f.Text = "etcd is full: only what ends or deletes instances is taken until there is room (" + sp.String() + ")"
		f.Advice = "delete or cancel what nobody needs (weft store says what fills it), then run weft store repair: docs/runbooks/etcd-near-quota.md"
	default:
		f.Text = "etcd is nearly full: starts and new definitions are refused until there is room (" + sp.String() + ")"
		f.Advice = "delete or cancel what nobody needs (weft store says what fills it), or raise the quota: docs/runbooks/etcd-near-quota.md"
	}
	return f
}

// Line is both in a line; "": there is room.
func (f Fullness) Line() string {
	if f.Text == "" {
		return ""
	}
	return f.Text + "; do this: " + f.Advice
}
