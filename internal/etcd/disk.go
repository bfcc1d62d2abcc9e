package etcd

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/weft-run/weft/internal/disk"
)

const (
	// databaseAhead is held for the database of an embedded etcd behind its end: bbolt takes 16 MiB at once where it
	// grows, and etcd ends the process when a page of it cannot be written.
	databaseAhead = 32 << 20
	// firstStart is what a member without data takes at once: a file of its log, the next one, and its database.
	firstStart = 2*disk.Segment + databaseAhead

	endsOnFullDisk = "nothing that was acknowledged is lost; make room on that disk, or make it larger, and start the node again: docs/runbooks/disk-full.md"
)

func databaseFile(etcdDir string) string { return filepath.Join(etcdDir, "member", "snap", "db") }

// watchDisk looks how full the disk of an embedded etcd is. Beside that it holds room for the database, so that etcd
// goes on with what little is written while nothing is taken, also when somebody else takes the last byte.
func watchDisk(etcdDir string, reserve int64) (disk.Space, error) {
	return spaceOf(etcdDir, reserve, disk.Hold(databaseFile(etcdDir), databaseAhead))
}

// spaceOf looks how full the disk is, where room was held on it or not.
func spaceOf(etcdDir string, reserve int64, held error) (disk.Space, error) {
	sp, err := disk.Look(etcdDir)
	if sp.Reserve = reserve; err != nil {
		return sp, err
	}
	switch {
	case disk.OverQuota(held): // which many file systems leave out of what they say is free
		sp.Free = 0
	case held != nil && !disk.IsFull(held): // which sp says better
		return sp, held
	}
	return sp, nil
}

// readyDisk sees before an embedded etcd starts that it can: without the next file of its log and room in its database
// it ends the process a moment later, or much later, when there is room again. Where both are there it starts on a disk
// that is full, and its node answers who reads.
func readyDisk(cfg Config) error {
	sp, err := disk.Look(cfg.DataDir)
	if err == nil && sp.Known() && cfg.Reserve > sp.Size {
		return fmt.Errorf("disk-reserve-bytes is %d (%d MiB), and the whole disk of %s has %d MiB: nothing would ever be started", cfg.Reserve, cfg.Reserve>>20, cfg.DataDir, sp.Size>>20)
	}
	if err != nil || !sp.Below(disk.Reserve) {
		return nil //nolint:nilerr // a system that does not tell is not asked again
	}
	logs := filepath.Join(cfg.dir(), "member", "wal")
	if err := hasEtcd(cfg.DataDir, cfg.dir()); err != nil {
		if sp.Below(firstStart) {
			return fmt.Errorf("the disk of %s has too little room for a new etcd (%v, and it takes %d MiB at once): make room on it, or give --data-dir on a larger one", cfg.DataDir, sp, firstStart>>20)
		}
		return nil
	}
	// etcd makes this file first of all, and takes it as it is.
	if err = disk.Make(filepath.Join(logs, "0.tmp"), disk.Segment); err == nil {
		err = disk.Hold(databaseFile(cfg.dir()), databaseAhead/2)
	}
	return err
}

// warnOfDisk says at the start that etcd may become larger than its disk, by what its quota leaves it and its log.
func warnOfDisk(ctx context.Context, cfg Config, left int64) {
	const logFiles = 7 * disk.Segment
	if sp, err := disk.Look(cfg.DataDir); err == nil && sp.Below(left+logFiles) {
		cfg.Log.WarnContext(ctx, "the embedded etcd may become larger than its disk; work is refused before that", slog.String("dir", cfg.DataDir), slog.Int64("diskFree", sp.Free),
			slog.Int64("mayTake", left+logFiles), slog.String("do", "give --etcd-quota-bytes that fits, or a larger disk: docs/runbooks/disk-full.md"))
	}
}

// onFullDisk says what an error is that came of a full disk, and what to do.
func onFullDisk(dir string, err error) error {
	if !disk.IsFull(err) {
		return err
	}
	sp, _ := disk.Look(dir)
	if disk.OverQuota(err) {
		return fmt.Errorf("what this user or project may take of the disk of %s is used up (quota), and the embedded etcd needs room for %d MiB to start: %s: %w", dir, (disk.Segment+databaseAhead)>>20, endsOnFullDisk, err)
	}
	return fmt.Errorf("the disk of %s is full (%v), and the embedded etcd needs room for %d MiB to start: %s: %w", dir, sp, (disk.Segment+databaseAhead)>>20, endsOnFullDisk, err)
}

// roomToDefragment refuses where the new file would not fit beside the old one.
func roomToDefragment(etcdDir string, reserve, inUse int64) error {
	sp, err := disk.Look(etcdDir)
	sp.Reserve = reserve
	if err == nil && sp.Below(inUse+sp.Least()) {
		return fmt.Errorf("the embedded etcd is not defragmented: its database is written to a new file for that, which takes %d MiB, and the disk of %s has %v; make room on it first: docs/runbooks/disk-full.md", inUse>>20, etcdDir, sp)
	}
	return nil
}
