package inspect

import (
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/archive"
)

// Config says what is read, and by which clocks. All fields but Archive are required.
type Config struct {
	Reader  *etcdstore.Reader
	Archive *archive.Archive // what left etcd; nil: there is none
	// Age tells how old what lies in etcd is: callers are told by it when what waits
	// expires.
	Age      func() *store.Age
	QueueTTL time.Duration // how long a stimulus waits in the queue
	Now      func() time.Time
}

// Inspector reads for callers. Make it with [New].
type Inspector struct {
	cfg     Config
	counter counter
}

// New makes an inspector.
func New(cfg Config) *Inspector { return &Inspector{cfg: cfg} }
