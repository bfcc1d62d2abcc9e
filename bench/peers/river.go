package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

const riverSettings = "River is a job queue, no workflow engine: the reference for picking up work. Settings of River's own benchmark program: " +
	"FetchCooldown 2 ms, FetchPollInterval 20 ms, 10,000 workers, notifications on; pool of 30 connections. " +
	"W1 per burst: one job that does the three activities and completes in a transaction of its own. " +
	"W1 per activity: three jobs, each of which puts in the next and completes in one transaction. " +
	"W2: a job up to the wait, and a job for what follows, put in by the sender after the first is complete; nothing looks up who waits. " +
	"(River's other way, completion in batches in the background, makes a caller who waits for the durable end wait up to 250 ms.) Postgres as for Temporal."

// work is a job: one step of an instance.
type work struct {
	Key   int64  `json:"key"`
	Step  int    `json:"step"`
	Last  int    `json:"last"`
	Input string `json:"input"`
}

func (work) Kind() string { return "work" }

// riverWorker works steps; one that is not the last puts in the next. A job
// completes in a transaction, so that its caller hears of a durable end at once.
type riverWorker struct {
	river.WorkerDefaults[work]
	pool *pgxpool.Pool
	done func(key int64)
}

func (w *riverWorker) Work(ctx context.Context, job *river.Job[work]) error {
	lines.Add(1)
	tx, err := w.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	last := job.Args.Step == job.Args.Last
	if !last {
		next := job.Args
		next.Step++
		if _, err := river.ClientFromContext[pgx.Tx](ctx).InsertTx(ctx, tx, next, nil); err != nil {
			return err
		}
	}
	if _, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	if last {
		w.done(job.Args.Key)
	}
	return nil
}

// riverSystem waits for the ends of jobs.
type riverSystem struct {
	client  *river.Client[pgx.Tx]
	mu      sync.Mutex
	waiting map[int64]chan struct{} // guarded by mu
}

func riverOnPostgres(ctx context.Context, dir string) (*system, error) {
	pg, err := startPostgres(ctx, dir)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*system, error) { return nil, errors.Join(err, pg.stop()) }
	if err := pg.create(ctx, "river"); err != nil {
		return fail(err)
	}
	pool, err := pgxpool.New(ctx, pg.url("river")+"&pool_max_conns=30")
	if err != nil {
		return fail(err)
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return fail(err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fail(err)
	}
	s := &riverSystem{waiting: map[int64]chan struct{}{}}
	workers := river.NewWorkers()
	river.AddWorker(workers, &riverWorker{pool: pool, done: s.done})
	s.client, err = river.NewClient(riverpgxv5.New(pool), &river.Config{
		FetchCooldown: 2 * time.Millisecond, FetchPollInterval: 20 * time.Millisecond, Workers: workers,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: river.QueueNumWorkersMax}},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return fail(err)
	}
	if err := s.client.Start(ctx); err != nil {
		return fail(err)
	}
	stop := func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		err := s.client.StopAndCancel(ctx)
		pool.Close()
		return errors.Join(err, pg.stop())
	}
	return &system{settings: riverSettings, cpu: pg.cpu, stop: stop, operations: []operation{
		{"W1", "burst", func(ctx context.Context, i int64) error { return s.do(ctx, i, 1) }},
		{"W1", "activity", func(ctx context.Context, i int64) error { return s.do(ctx, i, 3) }},
		{"W2", "burst", func(ctx context.Context, i int64) error {
			if err := s.do(ctx, i, 1); err != nil {
				return err
			}
			return s.do(ctx, i, 1)
		}},
	}}, nil
}

// done tells the caller, if it still waits: a job may be worked twice.
func (s *riverSystem) done(key int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ended := s.waiting[key]; ended != nil {
		delete(s.waiting, key)
		close(ended)
	}
}

// do puts a job in and waits until the last of its steps is complete.
func (s *riverSystem) do(ctx context.Context, key int64, steps int) error {
	done := make(chan struct{})
	s.mu.Lock()
	s.waiting[key] = done
	s.mu.Unlock()
	if _, err := s.client.Insert(ctx, work{Key: key, Step: 1, Last: steps, Input: input}, nil); err != nil {
		return err
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("no end of job %d: %w", key, ctx.Err())
	}
}
