package node

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"

	"github.com/weft-run/weft/internal/disk"
	"github.com/weft-run/weft/internal/etcd"
	"github.com/weft-run/weft/pkg/activities/mail"
	"github.com/weft-run/weft/pkg/activities/sql"
	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// Config says what a node is. The zero value is a single node with an embedded
// etcd in ./weft-data. A field that is zero has the value of [DefaultConfig], or the
// default that its comment tells.
type Config struct {
	HTTPAddr      string // where to listen; port 0 picks one
	AdvertiseAddr string // where other nodes reach this one, host:port; default: where it listens
	PublicURL     string // where people reach the cluster; for links; default http(s)://AdvertiseAddr
	TLSCert       string // PEM files; both or none
	TLSKey        string
	TLSCACert     string // PEM file with the authorities of the other nodes' certificates; default: the system's
	Insecure      bool   // listen beyond loopback without asking for credentials

	// Hosts are names under which callers reach a node without credentials, beside
	// addresses, localhost, the host's own name and those in HTTPAddr, AdvertiseAddr
	// and PublicURL. It refuses other names: a web page may have made them point at it.
	Hosts []string

	// CORSOrigins are the sites, such as https://shop.example.com, whose pages may call the API and endpoints from
	// browsers and read the answers; never with cookies. None: no other site's.
	CORSOrigins []string

	// Who may call; see docs/security.md. Without any of these, everybody who
	// reaches the listener may do everything.
	AuthKeysFile      string   // API keys, as weft apikey writes them; read again when it changes
	AuthOIDCIssuer    string   // whose JWTs count
	AuthOIDCAudience  string   // that they must be for
	AuthOIDCRoleClaim string   // where they have their roles; default "roles"
	AuthOIDCRoles     []string // "role=value of the claim"; default: the roles' own names
	AuthOIDCClientID  string   // what it calls this cluster, where people sign in to the console; "": they cannot with it
	AuthOIDCSecret    string   // file with the secret that proves it; "": the provider wants none
	AuthOIDCCACert    string   // PEM file with the authorities of the issuer; default: the system's
	AuditLog          string   // file for the log of who changed what; default: the log, if credentials are asked for

	DataDir          string   // of the embedded etcd
	EtcdEndpoints    []string // default: an embedded etcd in DataDir
	EtcdCACert       string   // PEM files
	EtcdCert         string
	EtcdKey          string
	EtcdUser         string
	EtcdPasswordFile string
	// EtcdQuota bounds the database of an embedded etcd, in bytes, default 4 GiB. For
	// an etcd elsewhere it is the quota to assume if that etcd does not tell its own
	// (it does from 3.6 on).
	EtcdQuota int64
	// DiskReserve is what is kept free of the disk of an embedded etcd, in bytes, default 256 MiB: with less starts are
	// refused, with half of it all but ends and deletes, with a quarter all that writes.
	DiskReserve int64
	// EtcdDialTimeout is how long a start waits for an etcd elsewhere that does not
	// answer, and then again for one that does not let the node join yet.
	EtcdDialTimeout time.Duration

	// GroupCommit is "on" or "off": whether concurrent requests to etcd
	// share proposals; see pkg/cluster/groupcommit.
	GroupCommit string

	// ResumeLocking is "auto" or "always": whether an event that resumes an instance which
	// nobody works takes the instance's lock only before an effect outside, or before
	// anything else. Nodes of both kinds work on one cluster.
	ResumeLocking string

	// JavaScript is "on" or "off": whether this node evaluates JavaScript. A
	// node without it refuses definitions that use it. It leaves the work of such
	// definitions that another node published to nodes with JavaScript.
	JavaScript string

	Cluster      string        // name of the cluster, the root of its keys
	NodeID       string        // unique in the cluster; default: the host's name and a random part
	SessionTTL   time.Duration // after this time without an answer it counts as dead
	Coordination string        // "distributed", or "local": alone, without locks in etcd
	Definitions  string        // directory of definitions that are published at start; default: none
	// ActivityTypes is a directory of files that declare activity types which workers do, see docs/workers.md; default: none. A
	// file with a mistake ends the start.
	ActivityTypes string

	// Activities adds activity types of the program's own to the built-in ones; see
	// [engine.RegisterFunc]. A node leaves definitions with other types to the nodes that
	// have them.
	Activities func(*engine.Registry) error
	// Workflows are definitions built in Go. At start the node publishes those
	// whose content was never published; one that is not valid ends the start.
	Workflows []*workflow.Definition

	// Retention says how long what has ended is kept; nil: [DefaultRetention].
	Retention *Retention

	QueueTTL time.Duration // an unmatched stimulus becomes a dead letter after this

	// ReplyWait is how long a burst may take to commit before what caused it is made
	// durable instead, and how long a call then waits for the outcome; after that the
	// answer is that it was accepted (202). It is for programs that embed a node and
	// would rather have their callers wait, and for tests that want to see the outcome
	// on any machine. The HTTP API ends a request after 30 s, with an outcome that is
	// not known, unless the request says how long it waits. It has no flag. Default 1 s.
	ReplyWait time.Duration

	// MetricsDefinitions is how many definitions have series of their own in metrics, the
	// first that the node meets; the rest share one. Default 100.
	MetricsDefinitions int
	// BurstsPerDefinition bounds the bursts of one definition that the node runs at
	// once, and BurstBytes the memory that all bursts work on, as estimated. Commands
	// that find no place wait in their mailboxes; see [admission.Limits].
	BurstsPerDefinition int
	BurstBytes          int64

	// MaxBurstActivities is after how many activities of one command its burst commits, pauses and goes on,
	// [engine.MaxBurstActivities] at most.
	MaxBurstActivities int
	// MaxWaits is at how many places an instance may wait at once, [engine.MaxWaits] at most. One that waits at more
	// when it is lowered keeps them.
	MaxWaits int
	MaxCalls int // that are in flight beside others, of all instances together; the next ones wait. Default 256

	DrainDelay   time.Duration // not ready and still serving before the intake stops; default none
	DrainTimeout time.Duration // for running bursts to finish

	AllowPrivateAddresses bool // activities may call loopback and private networks

	// Wings are what helps to write definitions, and what people see; nil: there are none.
	// Make the node with pkg/node/full, which has all.
	Wings Wings
	// Console is whether the node serves the pages of /console/: [ConsoleOn], the default of a node with wings, or [ConsoleOff].
	Console string

	// SecretsDir has one file per secret that expressions read as secrets.NAME; the
	// node follows changes. See internal/secrets. Default: there are none.
	SecretsDir string

	// SMTP is the mail server of sendEmail; without an address the node sends no mail.
	SMTP SMTP

	// Databases are the kinds of databases that activities may ask; none: they ask none. pkg/node/full has
	// PostgreSQL and SQLite.
	Databases []*sql.Dialect

	// Archive is where finished instances go before etcd forgets them: sqlite:/path or postgres://user@host/database, of one of
	// Databases; see [archive.Open]. ArchivePasswordFile has the password of a server. Default: nowhere.
	Archive             string
	ArchivePasswordFile string

	// LinkKeyFile has the keys that sign resume links, one a line: the first signs, and
	// links of all are good. Default: the cluster makes one and keeps it in etcd.
	LinkKeyFile string

	MaxBody     int64 // bytes of a request body
	MaxInFlight int   // requests at once; half of them may be starts
	BodyBytes   int64 // of memory for the bodies of requests in flight

	// MaxConnections bounds the connections to the API, and MaxConnectionsPerAddress
	// those from one address; more are closed at once. Default: 10,000, or half of the
	// descriptors that the process may have open if that is less, since etcd's files
	// and outgoing connections need some; and half of that.
	MaxConnections           int
	MaxConnectionsPerAddress int

	Version string    // of the program
	Lines   io.Writer // where WriteLine writes; default: nowhere
	// LogLines makes a record of the log of what WriteLine writes, with its instance, definition and activity.
	LogLines bool
	Logger   *slog.Logger // default: discarded

	// Now is this node's clock, default [time.Now]: the times that the node writes
	// down, fires by or compares with other nodes come from it. It is for tests, which
	// let nodes of one process differ. Measures of how long something takes, such as
	// the session and every time limit, do not use it, nor do the lives of
	// certificates and of callers' credentials.
	Now func() time.Time

	// Traces takes the node's spans; nil: it makes none. The caller shuts it
	// down after the node has stopped.
	Traces trace.TracerProvider
}

// The values of [Config.ResumeLocking].
const (
	ResumeLockingAuto   = "auto"
	ResumeLockingAlways = "always"
)

// DefaultConfig has the defaults that are the same for every node; those of the
// flags of weft are the same, but for DrainDelay.
func DefaultConfig() Config {
	keep, bursts := DefaultRetention(), admission.DefaultLimits()
	return Config{
		HTTPAddr: "127.0.0.1:8080", DataDir: "./weft-data", DiskReserve: disk.Reserve, EtcdDialTimeout: 5 * time.Second,
		GroupCommit: GroupCommitOn, ResumeLocking: ResumeLockingAuto, JavaScript: JavaScriptOn,
		Cluster: "default", SessionTTL: 10 * time.Second, Coordination: cluster.ModeDistributed,
		Retention: &keep, QueueTTL: 10 * time.Minute, ReplyWait: time.Second, MetricsDefinitions: metrics.DefaultDefinitions, BurstsPerDefinition: bursts.PerDefinition, BurstBytes: bursts.Bytes,
		MaxBurstActivities: engine.DefaultBurstActivities, MaxWaits: engine.MaxWaits, MaxCalls: engine.MaxCalls,
		DrainTimeout: 30 * time.Second, Console: ConsoleOn,
		SMTP:    SMTP{TLS: mail.StartTLS},
		MaxBody: 1 << 20, MaxInFlight: 1024, BodyBytes: 128 << 20,
		Version: "devel",
	}
}

// withDefaults returns a copy that is filled in and checked.
func (c Config) withDefaults() (Config, error) {
	d := DefaultConfig()
	c.HTTPAddr = cmp.Or(c.HTTPAddr, d.HTTPAddr)
	c.DataDir = cmp.Or(c.DataDir, d.DataDir)
	c.DiskReserve = cmp.Or(c.DiskReserve, d.DiskReserve)
	c.EtcdDialTimeout = cmp.Or(c.EtcdDialTimeout, d.EtcdDialTimeout)
	c.GroupCommit = cmp.Or(c.GroupCommit, d.GroupCommit)
	c.ResumeLocking = cmp.Or(c.ResumeLocking, d.ResumeLocking)
	c.JavaScript = cmp.Or(c.JavaScript, d.JavaScript)
	c.Cluster = cmp.Or(c.Cluster, d.Cluster)
	c.SessionTTL = cmp.Or(c.SessionTTL, d.SessionTTL)
	c.Coordination = cmp.Or(c.Coordination, d.Coordination)
	c.Retention = cmp.Or(c.Retention, d.Retention)
	if c.Console == "" && c.Wings == nil {
		c.Console = ConsoleOff
	}
	c.Console = cmp.Or(c.Console, d.Console)
	c.SMTP.TLS = cmp.Or(c.SMTP.TLS, d.SMTP.TLS)
	c.QueueTTL = cmp.Or(c.QueueTTL, d.QueueTTL)
	c.ReplyWait = cmp.Or(c.ReplyWait, d.ReplyWait)
	c.MetricsDefinitions = cmp.Or(c.MetricsDefinitions, d.MetricsDefinitions)
	c.BurstsPerDefinition = cmp.Or(c.BurstsPerDefinition, d.BurstsPerDefinition)
	c.BurstBytes = cmp.Or(c.BurstBytes, d.BurstBytes)
	c.MaxBurstActivities = cmp.Or(c.MaxBurstActivities, d.MaxBurstActivities)
	c.MaxWaits = cmp.Or(c.MaxWaits, d.MaxWaits)
	c.MaxCalls = cmp.Or(c.MaxCalls, d.MaxCalls)
	c.DrainTimeout = cmp.Or(c.DrainTimeout, d.DrainTimeout)
	c.MaxBody = cmp.Or(c.MaxBody, d.MaxBody)
	c.MaxInFlight = cmp.Or(c.MaxInFlight, d.MaxInFlight)
	c.BodyBytes = cmp.Or(c.BodyBytes, d.BodyBytes)
	c.Version = cmp.Or(c.Version, d.Version)
	if c.MaxConnections == 0 {
		c.MaxConnections = connectionsFor(openFiles())
	}
	if c.MaxConnectionsPerAddress == 0 {
		c.MaxConnectionsPerAddress = max(1, c.MaxConnections/2)
	}
	if c.NodeID == "" {
		c.NodeID = makeNodeID()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Lines == nil {
		c.Lines = io.Discard
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, c.check()
}

// check says everything that is wrong at once.
func (c Config) check() error {
	return errors.Join(workflow.CheckID("node-id", c.NodeID), workflow.CheckID("cluster", c.Cluster), c.checkModes(), c.checkLimits(), c.Retention.check(c.Archive != ""),
		c.checkCertificate(), c.checkEtcd(), c.checkListen(), c.checkAuth(), c.checkHosts(), c.checkOrigins(), c.checkDefinitions(), c.checkSMTP())
}

// mistakes are what is wrong with some of the settings.
type mistakes []error

func (m *mistakes) add(format string, args ...any) { *m = append(*m, fmt.Errorf(format, args...)) }

func (c Config) checkModes() error {
	var wrong mistakes
	if c.Coordination != cluster.ModeDistributed && c.Coordination != cluster.ModeLocal {
		wrong.add("coordination is %q; it must be %s or %s", c.Coordination, cluster.ModeDistributed, cluster.ModeLocal)
	}
	if c.GroupCommit != GroupCommitOn && c.GroupCommit != GroupCommitOff {
		wrong.add("group-commit is %q; it must be %s or %s", c.GroupCommit, GroupCommitOn, GroupCommitOff)
	}
	if c.ResumeLocking != ResumeLockingAuto && c.ResumeLocking != ResumeLockingAlways {
		wrong.add("resume-locking is %q; it must be %s or %s", c.ResumeLocking, ResumeLockingAuto, ResumeLockingAlways)
	}
	if c.Console != ConsoleOn && c.Console != ConsoleOff {
		wrong.add("console is %q; it must be %s or %s", c.Console, ConsoleOn, ConsoleOff)
	}
	if c.JavaScript != JavaScriptOn && c.JavaScript != JavaScriptOff {
		wrong.add("javascript is %q; it must be %s or %s", c.JavaScript, JavaScriptOn, JavaScriptOff)
	}
	return errors.Join(wrong...)
}

// checkLimits is about times and sizes.
func (c Config) checkLimits() error {
	var wrong mistakes
	if c.SessionTTL < cluster.MinTTL {
		wrong.add("session-ttl is %v; it must be at least %v", c.SessionTTL, cluster.MinTTL)
	}
	for name, d := range map[string]time.Duration{"drain-delay": c.DrainDelay, "drain-timeout": c.DrainTimeout, "etcd-dial-timeout": c.EtcdDialTimeout, "ReplyWait": c.ReplyWait} {
		if d < 0 {
			wrong.add("%s is %v; it must not be negative", name, d)
		}
	}
	if c.EtcdQuota < 0 || c.EtcdQuota > etcd.MaxQuota {
		wrong.add("etcd-quota-bytes is %d; it must be positive and at most %d (8 GiB)", c.EtcdQuota, int64(etcd.MaxQuota))
	}
	if c.DiskReserve < disk.LeastReserve || c.DiskReserve > etcd.MaxReserve {
		wrong.add("disk-reserve-bytes is %d; it must be from %d (64 MiB), as etcd makes files of its log of that size, to %d (1 TiB)", c.DiskReserve, disk.LeastReserve, int64(etcd.MaxReserve))
	}
	if c.MaxBody < 0 || c.MaxInFlight < 2 {
		wrong.add("MaxBody is %d and MaxInFlight %d; they must be positive, the latter at least 2", c.MaxBody, c.MaxInFlight)
	}
	if c.BodyBytes < 0 || c.MaxConnections < 0 || c.MaxConnectionsPerAddress < 0 {
		wrong.add("body-bytes is %d, max-connections %d and max-connections-per-address %d; they must be positive", c.BodyBytes, c.MaxConnections, c.MaxConnectionsPerAddress)
	}
	if c.MetricsDefinitions < 0 || c.MetricsDefinitions > maxDefinitions {
		wrong.add("metrics-definitions is %d; it must be 1 to %d: each is some thirty series", c.MetricsDefinitions, maxDefinitions)
	}
	return errors.Join(append(wrong, c.checkWork()...)...)
}

// checkWork is about how much instances may do at once.
func (c Config) checkWork() (wrong mistakes) {
	if c.MaxBurstActivities < 1 || c.MaxBurstActivities > engine.MaxBurstActivities {
		wrong.add("max-burst-activities is %d; it must be from 1 to %d", c.MaxBurstActivities, engine.MaxBurstActivities)
	}
	if c.MaxWaits < 1 || c.MaxWaits > engine.MaxWaits {
		wrong.add("max-waits is %d; it must be from 1 to %d", c.MaxWaits, engine.MaxWaits)
	}
	if c.BurstsPerDefinition < 0 || c.BurstBytes < 0 || c.MaxCalls < 0 {
		wrong.add("bursts-per-definition is %d, burst-bytes %d and max-calls %d; they must be positive", c.BurstsPerDefinition, c.BurstBytes, c.MaxCalls)
	}
	return wrong
}

func (c Config) checkCertificate() error {
	var wrong mistakes
	if (c.TLSCert == "") != (c.TLSKey == "") {
		wrong.add("tls-cert and tls-key belong together; one of them is missing")
	}
	if c.TLSCACert != "" && c.TLSCert == "" {
		wrong.add("tls-cacert is about the certificates of nodes, and there is no tls-cert")
	}
	return errors.Join(wrong...)
}

// checkEtcd is about how etcd is reached.
func (c Config) checkEtcd() error {
	var wrong mistakes
	if (c.EtcdCert == "") != (c.EtcdKey == "") {
		wrong.add("etcd-cert and etcd-key belong together; one of them is missing")
	}
	if (c.EtcdUser == "") != (c.EtcdPasswordFile == "") {
		wrong.add("etcd-user and etcd-password-file belong together; one of them is missing")
	}
	if len(c.EtcdEndpoints) == 0 && (c.EtcdCACert != "" || c.EtcdCert != "" || c.EtcdUser != "") {
		wrong.add("there are settings for connecting to etcd, and no etcd-endpoints")
	}
	for _, e := range c.EtcdEndpoints {
		if strings.TrimSpace(e) == "" {
			wrong.add("etcd-endpoints has an empty entry")
		}
	}
	return errors.Join(wrong...)
}

func (c Config) checkDefinitions() error {
	if c.Definitions == "" {
		return nil
	}
	info, err := os.Stat(c.Definitions)
	if err != nil {
		return fmt.Errorf("definitions: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("definitions: %s is not a directory", c.Definitions)
	}
	return nil
}

// makeNodeID is the host's name and a random part: a process that starts again
// does not have to wait for the record of the one before to expire.
func makeNodeID() string {
	host, err := os.Hostname()
	if err != nil {
		host = "node"
	}
	clean := strings.Map(func(r rune) rune {
		if workflow.CheckID("", string(r)) != nil {
			return '-'
		}
		return r
	}, host)
	id := uuid.New()
	return fmt.Sprintf("%.100s-%x", clean, id[:4])
}

// etcdDir is where the embedded etcd keeps its data.
// etcd is the part of it that says which etcd is opened.
func (c Config) etcd() etcd.Config {
	return etcd.Config{
		DataDir: c.DataDir, Quota: c.EtcdQuota, Reserve: c.DiskReserve,
		Endpoints: c.EtcdEndpoints, CACert: c.EtcdCACert, Cert: c.EtcdCert, Key: c.EtcdKey, User: c.EtcdUser, PasswordFile: c.EtcdPasswordFile, DialTimeout: c.EtcdDialTimeout,
		Cluster: c.Cluster, SessionTTL: c.SessionTTL, Log: c.Logger,
	}
}

// maxDefinitions bounds the label definition of metrics.
const maxDefinitions = 10_000
