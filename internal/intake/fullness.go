package intake

import (
	"fmt"

	"github.com/weft-run/weft/internal/store/etcdstore"
)

// Level says how full etcd is.
type Level int32

// The levels, and what is refused at each.
const (
	Roomy      Level = iota
	NearlyFull       // starts
	Full             // all but what ends or deletes instances
	OutOfDisk        // all that writes: the disk of an embedded etcd has next to nothing left
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

const diskAdvice = "make room on that disk (see who fills it: du), or make it larger; the node goes on by itself: docs/runbooks/disk-full.md"

// Tell gives the words of a level.
func Tell(l Level, sp etcdstore.Space) Fullness {
	f := Fullness{Level: l}
	switch {
	case l == Roomy && !sp.NoSpace:
		return f
	case sp.NoSpace && l != OutOfDisk:
		f.Level = Full
		f.Text = "etcd is full: it has raised the alarm NOSPACE and takes nothing but what only removes: retention, and DELETE of instances that have ended (" + sp.String() + ")"
		f.Advice = "run weft store repair, which makes room of what was deleted and takes the alarm back, then delete what nobody needs (weft store says what fills it): docs/runbooks/etcd-near-quota.md"
	case l == OutOfDisk:
		f.Text = "the disk of " + sp.Disk.Dir + " is full: nothing is taken that writes, and what was accepted stays, until there is room (" + sp.Disk.String() + ")"
		f.Advice = diskAdvice
	case l == Full && sp.Disk.Below(sp.Disk.Full()+sp.Disk.Full()/4):
		f.Text = "the disk of " + sp.Disk.Dir + " is nearly full: only what ends or deletes instances is taken until there is room (" + sp.Disk.String() + ")"
		f.Advice = diskAdvice
	case l == NearlyFull && sp.Disk.Below(sp.Disk.NearlyFull()+sp.Disk.NearlyFull()/4):
		f.Text = "the disk of " + sp.Disk.Dir + " is nearly full: starts and new definitions are refused, and jobs that retry or alter rest, until there is room (" + sp.Disk.String() + ")"
		f.Advice = diskAdvice
	case l == Full:
		f.Text = fmt.Sprintf("etcd is full: only what ends or deletes instances is taken until there is room, and jobs rest while %.0f %% are in use (", 100*JobsRestAt) + sp.String() + ")"
		f.Advice = "delete or cancel what nobody needs (weft store says what fills it), then run weft store repair: docs/runbooks/etcd-near-quota.md"
	default:
		f.Text = "etcd is nearly full: starts and new definitions are refused, and jobs that retry or alter rest, until there is room (" + sp.String() + ")"
		f.Advice = "delete or cancel what nobody needs (weft store says what fills it), or raise the quota: docs/runbooks/etcd-near-quota.md"
	}
	return f
}

// Left is how many bytes may still come into use before starts are refused; below 0: they are.
func Left(sp *etcdstore.Space) float64 {
	left := NearlyFullAt*float64(sp.Quota) - float64(sp.InUse)
	if sp.Disk.Known() {
		left = min(left, float64(sp.Disk.Free-sp.Disk.NearlyFull()))
	}
	return left
}

// Line is both in a line; "": there is room.
func (f Fullness) Line() string {
	if f.Text == "" {
		return ""
	}
	return f.Text + "; do this: " + f.Advice
}
