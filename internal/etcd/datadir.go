package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/undo"
	"github.com/weft-run/weft/pkg/cluster"
)

// lockName is the file in a data directory that its node holds. It has the URL of that
// node's etcd.
const lockName = "lock"

// inUseError says that a node has the data directory.
type inUseError struct {
	dir  string
	etcd string // the URL of that node's etcd; "" if nobody knows
}

func (e *inUseError) Error() string {
	if e.etcd == "" {
		return fmt.Sprintf("the data directory %s is in use by another node", e.dir)
	}
	return fmt.Sprintf("the data directory %s is in use by another node, whose etcd is at %s", e.dir, e.etcd)
}

// lockDataDir keeps a second node out of the same directory: etcd itself would
// wait for ever.
func lockDataDir(dir string, undo *undo.Steps) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	lock, err := fileutil.TryLockFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		return nil, &inUseError{dir, notedSocket(dir)}
	}
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	undo.Add("data directory", func(context.Context) error { return lock.Close() })
	return lock.File, nil
}

// noteSocket writes in the file of the lock where the etcd of its holder is.
func noteSocket(lock *os.File, door string) error {
	_, err := lock.WriteAt([]byte(door), 0)
	if err = errors.Join(err, lock.Truncate(int64(len(door)))); err != nil {
		return fmt.Errorf("note in the data directory where its etcd is: %w", err)
	}
	return nil
}

// notedSocket is where the etcd of the node is that has the directory; "" if nobody knows.
// A node of a version before this note has its socket in the directory, if that has no long path.
func notedSocket(dir string) string {
	if f, err := os.Open(filepath.Join(dir, lockName)); err == nil {
		defer f.Close()
		noted, err := io.ReadAll(io.LimitReader(f, 4<<10))
		if u, wrong := url.Parse(string(noted)); err == nil && wrong == nil && u.Scheme == "unix" {
			return u.String()
		}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	socket := filepath.Join(abs, "run", socketName)
	if info, err := os.Stat(socket); err != nil || info.Mode().Type() != fs.ModeSocket {
		return ""
	}
	return (&url.URL{Scheme: "unix", Path: socket}).String()
}

// OpenKept opens the etcd that is there, for commands that look at what a cluster keeps. Other
// than a node they make none: an empty one in a directory that was misspelled would pass every check.
func OpenKept(ctx context.Context, cfg Config, undo *undo.Steps) (Clients, error) {
	if len(cfg.Endpoints) > 0 {
		return dialEtcd(ctx, cfg, undo, nil)
	}
	if err := hasEtcd(cfg.DataDir, cfg.dir()); err != nil {
		return Clients{}, err
	}
	clients, err := embedded(ctx, cfg, undo)
	var used *inUseError
	if errors.As(err, &used) && used.etcd != "" {
		return clients, fmt.Errorf("%w; look through that: --etcd-endpoints %s", err, used.etcd)
	}
	return clients, err
}

// hasEtcd wants a member's database and its log: without one of them etcd begins a new one.
func hasEtcd(dataDir, etcdDir string) error {
	if _, err := os.Stat(dataDir); err != nil {
		return fmt.Errorf("there is no data directory %s, and none was made; --data-dir is the directory that the node has, --etcd-endpoints an etcd outside of it: %w", dataDir, err)
	}
	if _, err := os.Stat(filepath.Join(dataDir, "member")); err == nil {
		return fmt.Errorf("%s is the directory of an etcd itself; --data-dir is the one around it, in which it is called %s", dataDir, filepath.Base(etcdDir))
	}
	_, noData := os.Stat(filepath.Join(etcdDir, "member", "snap", "db"))
	log, noLog := os.ReadDir(filepath.Join(etcdDir, "member", "wal"))
	if noLog == nil && !slices.ContainsFunc(log, func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) == ".wal" }) {
		noLog = errors.New("its member/wal is empty")
	}
	if err := errors.Join(noData, noLog); err != nil {
		return fmt.Errorf("the data directory %s has no whole etcd, and none was made: %w", dataDir, err)
	}
	return nil
}

// mostNames is how many clusters are named where one was not found.
const mostNames = 10

// WantCluster refuses a cluster that has no key: an empty one would pass every check.
func WantCluster(ctx context.Context, kv clientv3.KV, name string) error {
	found, err := kv.Get(ctx, cluster.Root(name), clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly())
	if err != nil || len(found.Kvs) > 0 {
		return err
	}
	const above = "/weft/"
	var there []string
	for from := above; len(there) < mostNames; {
		next, err := kv.Get(ctx, from, clientv3.WithRange(clientv3.GetPrefixRangeEnd(above)), clientv3.WithLimit(1), clientv3.WithKeysOnly())
		if err != nil || len(next.Kvs) == 0 { // a user of etcd may see its own cluster only
			break
		}
		other, _, _ := strings.Cut(strings.TrimPrefix(string(next.Kvs[0].Key), above), "/")
		there = append(there, other)
		from = clientv3.GetPrefixRangeEnd(above + other + "/")
	}
	if len(there) == 0 {
		return fmt.Errorf("etcd has no key of a cluster %q, and none of another that could be seen", name)
	}
	return fmt.Errorf("etcd has no key of a cluster %q; it has %s: say which with --cluster", name, strings.Join(there, ", "))
}
