package jobs

import (
	"context"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Jobs keeps the jobs for many instances: who asks for one, and the nodes that work it.
type Jobs struct{ conn *record.Conn }

// New is the jobs over a connection.
func New(c *record.Conn) *Jobs { return &Jobs{c} }

// Create keeps a new job. It gives the one of this id that was created before, if there
// is one; nil: this one was created, or it was and is gone since.
//
// If: no job of its id, and no record that there was one; with a key, no record of the key. A
// repeat after a lost answer finds its own write.
func (s *Jobs) Create(ctx context.Context, job *store.Job) (*store.Job, error) {
	key, rec := s.conn.Keys.Job(job.ID), s.conn.Keys.CommandRecord("~job", job.ID)
	t := s.conn.Begin("create job", db.Absent(key), db.Absent(rec))
	t.Put(key, job)
	t.PutRaw(s.conn.Keys.OpenJobs()+record.Encode(job.ID), nil)
	s.conn.Record(t.Ops, rec, store.Effect{Outcome: workflow.OutcomeAccepted})
	if k := job.Key; k != nil {
		t.When(db.Absent(s.conn.Keys.KeyRecord(k.Name)))
		s.conn.Answer(t.Ops, k, &store.Answer{BodyHash: k.BodyHash, Job: job.ID})
	}
	there := t.Otherwise.Value(key)
	resp, err := t.Submit(ctx)
	if err != nil || resp.Succeeded {
		return nil, err
	}
	kv := there.One(resp)
	if kv == nil {
		return nil, workflow.Fail(workflow.CodeKeyReused, "the job of this Idempotency-Key was deleted; use a new key for another job")
	}
	old := &store.Job{Modified: kv.ModRevision}
	if err := db.DecodeWhole(kv.Value, old); err != nil {
		return nil, err
	}
	if old.Write == job.Write {
		return nil, nil
	}
	return old, nil
}

// Write puts a job as it is now. False: it was written since it was read.
//
// If: its mod revision. One that has ended, and of whose page it is noted what became of
// it, is open no more.
func (s *Jobs) Write(ctx context.Context, job *store.Job) (bool, error) {
	key := s.conn.Keys.Job(job.ID)
	t := s.conn.Begin("write job", db.ModifiedAt(key, job.Modified))
	t.Put(key, job)
	if !job.Open() {
		t.Del(s.conn.Keys.OpenJobs() + record.Encode(job.ID))
	}
	there := t.Otherwise.Value(key)
	resp, err := t.Submit(ctx)
	switch {
	case err != nil:
		return false, err
	case resp.Succeeded:
		job.Modified = resp.Header.Revision
		return true, nil
	}
	kv := there.One(resp)
	if kv == nil {
		return false, nil
	}
	is := &store.Job{}
	if err := db.Decode(kv.Value, is); err != nil || is.Write != job.Write {
		return false, nil //nolint:nilerr // what cannot be read is another's
	}
	job.Modified = kv.ModRevision
	return true, nil
}

// Give puts the command of a job into the mailbox of an instance of its page.
//
// If: the job's mod revision; as Stimuli.PutMail of a command without a bookmark. Else:
// as there; [record.PutMoved] if the job was written since.
func (s *Jobs) Give(ctx context.Context, job *store.Job, instance string, cmd workflow.Command) (record.PutOutcome, error) {
	key := s.conn.Keys.Job(job.ID)
	t := s.conn.Begin("give instance "+instance+" the command of a job", db.ModifiedAt(key, job.Modified))
	m := s.conn.Mail(t, instance, cmd, nil)
	is := t.Otherwise.Key(key)
	resp, err := t.SubmitSmall(ctx)
	if err != nil {
		return record.PutGone, err
	}
	out, _ := m.Became(resp)
	if out != record.PutGone {
		return out, nil
	}
	if kv := is.One(resp); kv == nil || kv.ModRevision != job.Modified {
		return record.PutMoved, nil
	}
	return record.PutGone, nil
}

// Delete forgets a job. False: it was written since it was read.
//
// If: its mod revision.
func (s *Jobs) Delete(ctx context.Context, job *store.Job) (bool, error) {
	t := s.conn.Begin("delete job", db.ModifiedAt(s.conn.Keys.Job(job.ID), job.Modified))
	t.Del(s.conn.Keys.Job(job.ID))
	t.Del(s.conn.Keys.OpenJobs() + record.Encode(job.ID))
	there := t.Otherwise.Count(s.conn.Keys.Job(job.ID))
	resp, err := t.SubmitSmall(ctx)
	if err != nil || resp.Succeeded {
		return err == nil, err
	}
	return !there.Found(resp), nil
}

// Job reads one; nil if there is none. Of one that cannot be read it gives what can be
// deleted, and the error.
func (s *Jobs) Job(ctx context.Context, id string) (*store.Job, error) {
	resp, err := s.conn.Get(ctx, "read job", s.conn.Keys.Job(id))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	kv := resp.Kvs[0]
	job := &store.Job{Created: kv.CreateRevision, Modified: kv.ModRevision}
	if err := db.DecodeWhole(kv.Value, job); err != nil {
		s.conn.Left(kv.Key, err)
		return &store.Job{ID: id, Modified: kv.ModRevision}, err
	}
	return job, nil
}

// List lists jobs by their ids: those that were made without a key in the order of their
// creation.
func (s *Jobs) List(ctx context.Context, cursor string, limit int64) ([]store.Job, db.PageEnd, error) {
	var out []store.Job
	end, err := s.conn.Values(ctx, "list jobs", s.conn.Keys.Jobs(), cursor, limit, func(kv *mvccpb.KeyValue) error {
		job := store.Job{Modified: kv.ModRevision}
		if err := db.Decode(kv.Value, &job); err != nil {
			job = store.Job{ID: record.Decode(strings.TrimPrefix(string(kv.Key), s.conn.Keys.Jobs())), Modified: kv.ModRevision, Damaged: err.Error()}
		}
		out = append(out, job)
		return nil
	})
	return out, end, err
}

// MaxOpenJobs is how many jobs are looked at that have not ended.
const MaxOpenJobs = 100

// Open lists the ids of jobs that have not ended.
func (s *Jobs) Open(ctx context.Context) ([]string, error) {
	kvs, _, err := s.conn.Page(ctx, "list open jobs", s.conn.Keys.OpenJobs(), "", MaxOpenJobs, clientv3.WithKeysOnly())
	ids := make([]string, len(kvs))
	for i, kv := range kvs {
		ids[i] = record.Decode(strings.TrimPrefix(string(kv.Key), s.conn.Keys.OpenJobs()))
	}
	return ids, err
}
