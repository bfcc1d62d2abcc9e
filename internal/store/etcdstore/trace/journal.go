package trace

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// JournalScan says where a journal is read from, and in which direction.
type JournalScan struct {
	From int64 // the first commit that is looked at; 0: the oldest, or the newest if Back
	Back bool  // to older ones
	// Revision of etcd that it is read at; 0: the present one.
	Revision int64
	// Heads leaves out items and variables, with which most of the time goes that a large entry takes.
	Heads bool
}

// JournalSpan is what a journal has, and how far it was read.
type JournalSpan struct {
	First, Last int64 // commits: the oldest that is kept, and the newest; Last 0: there is none
	Next        int64 // the commit to go on with, in the same direction; 0: it was read to its end
	Revision    int64 // of etcd, at which all of it was read
}

// ScanJournal gives the commits of an instance to do, one after the other, until do says
// that it is enough, or [db.PageBytes] were read; nil if there is no such instance. What is
// between two numbers is read by its keys, so either direction costs the same (etcd note 32).
func (s *Trace) ScanJournal(ctx context.Context, id string, scan JournalScan, do func(*workflow.JournalEntry) (enough bool)) (*JournalSpan, error) {
	resp, err := s.conn.Get(ctx, "read instance "+id, s.conn.Keys.Instance(id), clientv3.WithRev(scan.Revision))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	rec, err := record.DecodeRecord(resp.Kvs[0])
	if err != nil {
		return nil, err
	}
	j := &JournalSpan{First: record.JournalFrom(rec), Last: rec.Seq, Revision: cmp.Or(scan.Revision, resp.Header.Revision)}
	at := max(scan.From, j.First)
	if scan.Back && (scan.From == 0 || scan.From > j.Last) {
		at = j.Last
	} else if scan.Back {
		at = scan.From
	}
	return j, s.scanJournal(ctx, id, at, &scan, j, do)
}

func (s *Trace) scanJournal(ctx context.Context, id string, at int64, scan *JournalScan, j *JournalSpan, do func(*workflow.JournalEntry) bool) error {
	var b db.Budget
	back, read := scan.Back, record.ReadEntry
	if scan.Heads {
		read = record.ReadHead
	}
	for at >= j.First && at <= j.Last {
		n := int64(b.Chunk())
		from, to := at, min(j.Last, at+n-1)
		if back {
			from, to = max(j.First, at-n+1), at
		}
		resp, err := s.conn.Get(ctx, "read journal of "+id, s.conn.Keys.Journal(id, from), clientv3.WithRange(s.conn.Keys.Journal(id, to+1)), clientv3.WithRev(j.Revision))
		if err != nil {
			return err
		}
		if back {
			slices.Reverse(resp.Kvs)
		}
		for _, kv := range resp.Kvs {
			key := string(kv.Key)
			seq, _ := strconv.ParseInt(key[strings.LastIndexByte(key, '/')+1:], 10, 64)
			if !b.Takes(kv.Value) {
				j.Next = seq
				return nil
			}
			e := read(seq, kv.Value)
			if do(&e) {
				if j.Next = seq + 1; back {
					j.Next = seq - 1
				}
				if j.Next < j.First || j.Next > j.Last {
					j.Next = 0
				}
				return nil
			}
		}
		if at = to + 1; back {
			at = from - 1
		}
	}
	return nil
}
