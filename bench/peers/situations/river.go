package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

// order is a job of which only the number counts for uniqueness.
type order struct {
	Number string `json:"number" river:"unique"`
	Body   string `json:"body"`
	Do     string `json:"do"`
}

func (order) Kind() string { return "order" }

// strange is a kind that no worker knows.
type strange struct{}

func (strange) Kind() string { return "strange" }

type riverFlows struct {
	river.WorkerDefaults[order]
	did   tally
	gates gates
	c     *river.Client[pgx.Tx]
}

func riverPeer(ctx context.Context, dir string, _ options) (*peer, error) {
	url, stopPostgres, err := startPostgres(ctx, dir)
	if err != nil {
		return nil, err
	}
	f := &riverFlows{}
	pool, err := f.open(ctx, url)
	if err != nil {
		stopPostgres()
		return nil, err
	}
	stop := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = f.c.StopAndCancel(ctx)
		pool.Close()
		stopPostgres()
	}
	return &peer{version: "0.51.1 (Postgres 15)", stop: stop, situations: []situation{
		{"1, 3 the same unique job twice, with another body", f.twice},
		{"2 again after the end", f.again},
		{"4 a double in a batch, InsertMany", f.double},
		{"4 a double in a batch, InsertManyFast", f.doubleFast},
		{"13 a job that fails", f.fails},
		{"14 cancel of a job that runs, then retry", f.cancels},
		{"18 a kind that no worker knows", f.unknown},
		{"19 an output of 8 MiB and of 33 MiB", f.large},
	}}, nil
}

func (f *riverFlows) open(ctx context.Context, url string) (*pgxpool.Pool, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, err
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return nil, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, f)
	f.c, err = river.NewClient(riverpgxv5.New(pool), &river.Config{Workers: workers, SkipUnknownJobCheck: true,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 10}}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	return pool, f.c.Start(ctx)
}

func (f *riverFlows) Work(ctx context.Context, job *river.Job[order]) error {
	f.did.add(job.Args.Number)
	switch job.Args.Do {
	case "fail":
		return errors.New("no")
	case "gate":
		err := f.gates.of(job.Args.Number).pass(ctx)
		f.did.add("left " + job.Args.Number)
		return err
	case "large":
		if err := river.RecordOutput(ctx, strings.Repeat("x", 8<<20)); err != nil {
			return err
		}
		f.did.add("8 MiB recorded")
		if err := river.RecordOutput(ctx, strings.Repeat("x", 33<<20)); err != nil {
			return river.JobCancel(err)
		}
	}
	return nil
}

var byNumber = &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}}

// inState waits until a job is in one of these states.
func (f *riverFlows) inState(ctx context.Context, id int64, states ...rivertype.JobState) (*rivertype.JobRow, error) {
	var row *rivertype.JobRow
	var last error
	err := until(ctx, fmt.Sprintf("job %d is %v", id, states), func() bool {
		if row, last = f.c.JobGet(ctx, id); last != nil {
			return false
		}
		for _, s := range states {
			if row.State == s {
				return true
			}
		}
		return false
	})
	return row, errors.Join(err, last)
}

func (f *riverFlows) twice(ctx context.Context) (string, error) {
	one, err := f.c.Insert(ctx, order{Number: "t1", Body: "first", Do: "gate"}, byNumber)
	if err != nil {
		return "", err
	}
	two, err := f.c.Insert(ctx, order{Number: "t1", Body: "other", Do: "gate"}, byNumber)
	if err != nil {
		return "the second: " + short(err), nil
	}
	close(f.gates.of("t1").opened)
	if _, err := f.inState(ctx, one.Job.ID, rivertype.JobStateCompleted); err != nil {
		return "", err
	}
	return fmt.Sprintf("the second: no error, skipped as a duplicate: %v, its row is the first's: %v, with the body %s; ran %d times",
		two.UniqueSkippedAsDuplicate, one.Job.ID == two.Job.ID, two.Job.EncodedArgs, f.did.of("t1")), nil
}

func (f *riverFlows) again(ctx context.Context) (string, error) {
	one, err := f.c.Insert(ctx, order{Number: "a1"}, byNumber)
	if err != nil {
		return "", err
	}
	if _, err := f.inState(ctx, one.Job.ID, rivertype.JobStateCompleted); err != nil {
		return "", err
	}
	two, err := f.c.Insert(ctx, order{Number: "a1"}, byNumber)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("skipped as a duplicate: %v", two.UniqueSkippedAsDuplicate), nil
}

func batch(number string) []river.InsertManyParams {
	return []river.InsertManyParams{{Args: order{Number: number, Body: "one"}, InsertOpts: byNumber},
		{Args: order{Number: number + " alone"}, InsertOpts: byNumber}, {Args: order{Number: number, Body: "two"}, InsertOpts: byNumber}}
}

func (f *riverFlows) double(ctx context.Context) (string, error) {
	rows, err := f.c.InsertMany(ctx, batch("b1"))
	if err != nil {
		return "the batch: " + short(err), nil
	}
	var skipped []bool
	for _, r := range rows {
		skipped = append(skipped, r.UniqueSkippedAsDuplicate)
	}
	return fmt.Sprintf("skipped: %v", skipped), nil
}

func (f *riverFlows) doubleFast(ctx context.Context) (string, error) {
	n, err := f.c.InsertManyFast(ctx, batch("b2"))
	return fmt.Sprintf("%d of 3 inserted, %s", n, short(err)), nil
}

func (f *riverFlows) fails(ctx context.Context) (string, error) {
	one, err := f.c.Insert(ctx, order{Number: "f1", Do: "fail"}, nil)
	if err != nil {
		return "", err
	}
	row, err := f.inState(ctx, one.Job.ID, rivertype.JobStateRetryable)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("after attempt %d of %d it is %s, the next in %.1f s", row.Attempt, row.MaxAttempts, row.State, row.ScheduledAt.Sub(*row.AttemptedAt).Seconds()), nil
}

func (f *riverFlows) cancels(ctx context.Context) (string, error) {
	one, err := f.c.Insert(ctx, order{Number: "c1", Do: "gate"}, nil)
	if err != nil {
		return "", err
	}
	if err := until(ctx, "the job runs", func() bool { return f.did.of("c1") == 1 }); err != nil {
		return "", err
	}
	began := time.Now()
	if _, err := f.c.JobCancel(ctx, one.Job.ID); err != nil {
		return "", err
	}
	row, err := f.inState(ctx, one.Job.ID, rivertype.JobStateCancelled)
	if err != nil {
		return "", err
	}
	said := fmt.Sprintf("its context ended; %s after %.1f s", row.State, time.Since(began).Seconds())
	close(f.gates.of("c1").opened)
	if _, err := f.c.JobRetry(ctx, one.Job.ID); err != nil {
		return said + "; retry: " + short(err), nil
	}
	row, err = f.inState(ctx, one.Job.ID, rivertype.JobStateCompleted)
	return fmt.Sprintf("%s; retried: ran %d times, %s", said, f.did.of("c1"), row.State), err
}

func (f *riverFlows) unknown(ctx context.Context) (string, error) {
	one, err := f.c.Insert(ctx, strange{}, nil)
	if err != nil {
		return "", err
	}
	row, err := f.inState(ctx, one.Job.ID, rivertype.JobStateRetryable)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("after attempt %d of %d it is %s: %s", row.Attempt, row.MaxAttempts, row.State, row.Errors[0].Error), nil
}

func (f *riverFlows) large(ctx context.Context) (string, error) {
	one, err := f.c.Insert(ctx, order{Number: "l1", Do: "large"}, nil)
	if err != nil {
		return "", err
	}
	row, err := f.inState(ctx, one.Job.ID, rivertype.JobStateCancelled, rivertype.JobStateCompleted)
	if err != nil {
		return "", err
	}
	said := "33 MiB: no error"
	if len(row.Errors) > 0 {
		said = "33 MiB: " + short(errors.New(row.Errors[0].Error))
	}
	return fmt.Sprintf("8 MiB: recorded %v; %s", f.did.of("8 MiB recorded") == 1, said), nil
}

// startPostgres starts Debian's Postgres in a directory, as the user postgres if
// this program is root, which Postgres refuses to be.
func startPostgres(ctx context.Context, dir string) (url string, stop func(), err error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", nil, errors.New("there is no initdb: install Debian's postgresql")
	}
	bin, dir := filepath.Dir(found[len(found)-1]), filepath.Join(dir, "postgres")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", nil, err
	}
	as := &syscall.SysProcAttr{}
	if os.Geteuid() == 0 {
		if as, err = asPostgres(dir); err != nil {
			return "", nil, err
		}
	}
	data := filepath.Join(dir, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "--pgdata", data, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale", "C")
	initdb.SysProcAttr, initdb.Dir = as, "/"
	if out, err := initdb.CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return "", nil, err
	}
	cmd := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-h", "127.0.0.1", "-p", strconv.Itoa(port))
	cmd.SysProcAttr, cmd.Dir = as, "/"
	cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT // it does not outlive this program
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGQUIT) // at once: the data is thrown away
		_ = cmd.Wait()
	}
	url = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	err = until(ctx, "postgres answers", func() bool {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return false
		}
		return conn.Close(ctx) == nil
	})
	if err != nil {
		stop()
		return "", nil, err
	}
	return url, stop, nil
}

// asPostgres makes dir the user's and says how to run as it.
func asPostgres(dir string) (*syscall.SysProcAttr, error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
		return nil, err
	}
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}
