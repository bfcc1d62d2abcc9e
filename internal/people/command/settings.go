package command

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"

	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/workflow"
)

// settings is the configuration as the user gives it.
type settings struct {
	node      node.Config
	logLevel  string
	logFormat string
	lines     string
	config    string
}

// retention are the flags of how long what has ended is kept, and where.
func (s *settings) retention(fs *pflag.FlagSet) {
	n, keep := &s.node, s.node.Retention
	fs.DurationVar(&keep.Finished, "retain-finished", keep.Finished, "keep finished instances this long; at least 10m; 0: for ever")
	fs.Int64Var(&keep.FinishedCount, "retain-finished-count", keep.FinishedCount, "keep about this many finished instances, the newest; 0: all")
	fs.Int64Var(&keep.FinishedBytes, "retain-finished-bytes", keep.FinishedBytes, "keep about this many bytes of finished instances, the newest; 0: all")
	fs.Int64Var(&keep.Journal, "retain-journal", keep.Journal, "keep about this many of the newest journal entries (one a burst) of each instance; at least 100; 0: all")
	fs.StringVar(&n.Archive, "archive", "", "database where finished instances go when etcd forgets them: sqlite:/path/of/archive.db, or postgres://user@host:port/database?sslmode=verify-full")
	fs.StringVar(&n.ArchivePasswordFile, "archive-password-file", "", "file with the password of the archive's user")
	fs.DurationVar(&keep.Live, "retain-live", keep.Live, "with an archive, keep finished instances in etcd this long, from their end, but for those that faulted or have files, which stay as long as without an archive; 0: so do all")
	fs.DurationVar(&keep.Archived, "retain-archived", keep.Archived, "keep instances in the archive this long, from their end; 0: for ever")
	fs.DurationVar(&keep.DeadLetters, "retain-dead-letters", keep.DeadLetters, "keep dead letters this long; 0: for ever")
	fs.Int64Var(&keep.DeadLettersCount, "retain-dead-letters-count", keep.DeadLettersCount, "keep this many dead letters, the newest; 0: all")
	fs.Int64Var(&keep.DeadLettersBytes, "retain-dead-letters-bytes", keep.DeadLettersBytes, "keep this many bytes of dead letters, the newest; 0: all")
	fs.DurationVar(&keep.Idempotency, "retain-idempotency", keep.Idempotency, "keep the answers to Idempotency-Keys this long; at least 10m; 0: for ever")
	fs.Int64Var(&keep.IdempotencyCount, "retain-idempotency-count", keep.IdempotencyCount, "keep about this many of them, the newest; 0: no limit")
	fs.Int64Var(&keep.IdempotencyBytes, "retain-idempotency-bytes", keep.IdempotencyBytes, "keep about this many bytes of them, the newest; 0: no limit while etcd has room")
	fs.Int64Var(&keep.Versions, "retain-versions", keep.Versions, "keep this many versions of each definition, the newest, and those that something needs; 0: all")
}

// flags declares every setting once; the environment and the file know the same
// names. Their defaults are pkg/node's.
func (s *settings) flags(fs *pflag.FlagSet) {
	s.node = node.DefaultConfig()
	n := &s.node
	n.DrainDelay = 5 * time.Second // a process has a balancer in front of it, a program that embeds a node may have none
	fs.StringVar(&n.HTTPAddr, "http-addr", n.HTTPAddr, "listen here; port 0 picks one")
	fs.StringVar(&n.AdvertiseAddr, "advertise-addr", "", "host:port under which other nodes reach this one (default: where it listens)")
	fs.StringVar(&n.PublicURL, "public-url", "", "URL under which people reach the cluster, for links")
	fs.StringVar(&n.DataDir, "data-dir", n.DataDir, "data of the embedded etcd")
	fs.StringSliceVar(&n.EtcdEndpoints, "etcd-endpoints", nil, "etcd members, separated by commas (default: embedded etcd in the data directory)")
	fs.StringVar(&n.EtcdCACert, "etcd-cacert", "", "PEM file with the authorities that sign etcd's certificates")
	fs.StringVar(&n.EtcdCert, "etcd-cert", "", "PEM file with the client certificate for etcd")
	fs.StringVar(&n.EtcdKey, "etcd-key", "", "PEM file with the key of etcd-cert")
	fs.StringVar(&n.EtcdUser, "etcd-user", "", "user at etcd")
	fs.StringVar(&n.EtcdPasswordFile, "etcd-password-file", "", "file with the password of etcd-user")
	fs.DurationVar(&n.EtcdDialTimeout, "etcd-dial-timeout", n.EtcdDialTimeout, "how long a start waits for an etcd that does not answer or let the node join")
	fs.Int64Var(&n.EtcdQuota, "etcd-quota-bytes", 0, "quota of the embedded etcd (default 4 GiB), or of an etcd that does not tell its own (before 3.6; default 2 GiB)")
	fs.Int64Var(&n.DiskReserve, "disk-reserve-bytes", n.DiskReserve, "what is kept free of the disk of the embedded etcd: with less starts are refused, with half of it all but ends and deletes, with a quarter all that writes (at least 64 MiB)")
	fs.StringVar(&n.GroupCommit, "group-commit", n.GroupCommit, "on, or off: whether concurrent requests to etcd share proposals")
	fs.StringVar(&n.ResumeLocking, "resume-locking", n.ResumeLocking, "auto: an event that resumes an idle instance takes its lock before the first effect outside, and none where there is no such effect; or always: before anything else")
	fs.StringVar(&n.Cluster, "cluster", n.Cluster, "name of the cluster: the root of its keys in etcd")
	fs.StringVar(&n.NodeID, "node-id", "", "unique in the cluster (default: the host's name and a random part)")
	fs.StringVar(&n.Definitions, "definitions", "", "directory of definitions (YAML and Elsa JSON) to publish at start")
	fs.StringVar(&n.ActivityTypes, "activities", "", "directory of files that declare activity types which workers do (YAML and JSON)")
	fs.DurationVar(&n.SessionTTL, "session-ttl", n.SessionTTL, "after this time without an answer a node counts as dead")
	fs.DurationVar(&n.QueueTTL, "queue-ttl", n.QueueTTL, "a stimulus that nothing waits for becomes a dead letter after this, and up to a sixteenth of it later")
	fs.IntVar(&n.MetricsDefinitions, "metrics-definitions", n.MetricsDefinitions, "definitions that have series of their own in metrics, the first that the node meets; the rest share the label other")
	fs.IntVar(&n.BurstsPerDefinition, "bursts-per-definition", n.BurstsPerDefinition, "bursts of one definition that run on the node at once; more wait, in memory for a moment and then in their mailboxes")
	fs.Int64Var(&n.BurstBytes, "burst-bytes", n.BurstBytes, "bytes of memory that bursts work on, as estimated; more wait in their mailboxes")
	fs.IntVar(&n.MaxWaits, "max-waits", n.MaxWaits, "places where an instance waits at once, at most 100000; one of 10000 takes its node some 150 MB of memory for seconds")
	fs.IntVar(&n.MaxCalls, "max-calls", n.MaxCalls, "calls to the outside that are in flight beside other calls of their instances, in all bursts of the node; more wait until one is back")
	fs.IntVar(&n.MaxBurstActivities, "max-burst-activities", n.MaxBurstActivities, "activities that a command runs before its burst commits, pauses and goes on, at most 1000000")
	fs.Int64Var(&n.BodyBytes, "body-bytes", n.BodyBytes, "bytes of memory that the bodies of requests in flight take, as estimated; more are refused")
	fs.IntVar(&n.MaxConnections, "max-connections", 0, "connections to the API (default: 10000, or half of the descriptors that the process may open)")
	fs.IntVar(&n.MaxConnectionsPerAddress, "max-connections-per-address", 0, "connections to the API from one address (default: half of all)")
	s.retention(fs)
	fs.DurationVar(&n.DrainDelay, "drain-delay", n.DrainDelay, "not ready but serving before the node stops taking work")
	fs.DurationVar(&n.DrainTimeout, "drain-timeout", n.DrainTimeout, "time for running work to finish at the end")
	fs.StringVar(&n.Coordination, "coordination", n.Coordination, "distributed, or local: this node is alone and takes no locks in etcd")
	fs.StringVar(&n.Console, "console", n.Console, "on, or off: the node serves no pages at /console/")
	fs.BoolVar(&n.AllowPrivateAddresses, "allow-private-addresses", false, "activities may call loopback and private networks")
	fs.StringVar(&n.JavaScript, "javascript", n.JavaScript, "on, or off: definitions that use JavaScript are refused, and their work is left to nodes that have it on")
	fs.StringVar(&n.LinkKeyFile, "link-key-file", "", "file with the keys that sign resume links, the signing one first (default: a key kept in etcd)")
	fs.StringVar(&n.SecretsDir, "secrets-dir", "", "directory with one file per secret, which expressions read as secrets.NAME")
	fs.StringVar(&n.SMTP.Address, "smtp-address", "", "host:port of the mail server of sendEmail (default: the node sends no mail)")
	fs.StringVar(&n.SMTP.TLS, "smtp-tls", n.SMTP.TLS, "starttls: the mail server must offer it; tls: encrypted from the first byte on, as on port 465; or none")
	fs.StringVar(&n.SMTP.CACert, "smtp-cacert", "", "PEM file with the authorities that sign the mail server's certificate (default: the system's)")
	fs.StringVar(&n.SMTP.User, "smtp-user", "", "user at the mail server (default: it wants none)")
	fs.StringVar(&n.SMTP.PasswordSecret, "smtp-password-secret", "", "name of the secret with the password of smtp-user, a file in secrets-dir; it is read for each mail")
	fs.StringVar(&n.SMTP.From, "smtp-from", "", "sender of mails that say none")
	fs.BoolVar(&n.Insecure, "insecure", false, "listen beyond loopback without authentication: everybody who reaches the node is an admin")
	fs.StringSliceVar(&n.Hosts, "host", nil, "names, separated by commas, by which callers reach a node without authentication (default: its addresses, localhost and the names in other settings)")
	fs.StringSliceVar(&n.CORSOrigins, "cors-origin", nil, "sites, separated by commas, whose pages may call the API and endpoints from browsers, such as https://shop.example.com (default: none)")
	fs.StringVar(&n.AuthKeysFile, "auth-keys-file", "", "file of API keys, as weft apikey writes it; read again when it changes")
	fs.StringVar(&n.AuthOIDCIssuer, "auth-oidc-issuer", "", "OpenID Connect provider whose tokens count")
	fs.StringVar(&n.AuthOIDCAudience, "auth-oidc-audience", "", "audience that its tokens must be for")
	fs.StringVar(&n.AuthOIDCRoleClaim, "auth-oidc-role-claim", "", "claim with the roles, such as realm_access.roles (default: roles)")
	fs.StringSliceVar(&n.AuthOIDCRoles, "auth-oidc-roles", nil, "role=value of that claim, separated by commas (default: the roles' own names)")
	fs.StringVar(&n.AuthOIDCClientID, "auth-oidc-client-id", "", "what the provider calls this cluster: people sign in to the console with it")
	fs.StringVar(&n.AuthOIDCSecret, "auth-oidc-client-secret-file", "", "file with the secret of auth-oidc-client-id (default: the provider wants none)")
	fs.StringVar(&n.AuthOIDCCACert, "auth-oidc-cacert", "", "PEM file with the authorities that sign the provider's certificate (default: the system's)")
	fs.StringVar(&n.AuditLog, "audit-log", "", "file for the log of who changed what (default: with the rest of the log, once credentials are asked for)")
	fs.StringVar(&n.TLSCert, "tls-cert", "", "PEM file with the certificate of the API")
	fs.StringVar(&n.TLSKey, "tls-key", "", "PEM file with the key of tls-cert")
	fs.StringVar(&n.TLSCACert, "tls-cacert", "", "PEM file with the authorities that sign the nodes' certificates (default: the system's)")
	fs.StringVar(&s.logLevel, "log-level", "info", "debug, info, warn or error")
	fs.StringVar(&s.logFormat, "log-format", "", "text or json (default: json unless standard error is a terminal)")
	fs.StringVar(&s.lines, "lines", "", "where writeLine writes: stdout, or log, as records with their instance (default: log unless standard output is a terminal)")
	fs.StringVar(&s.config, configFlag, "", "YAML or JSON file with settings")
	fs.SortFlags = false
}

const configFlag = "config"

// envPrefix starts the name of every environment variable of ours.
const envPrefix = "WEFT_"

// layer fills in what the command line does not say, from the environment and
// then from the file. pflag parses all values, so that a wrong one reads the
// same wherever it comes from.
func layer(fs *pflag.FlagSet, environ func() []string) error {
	k := koanf.New(".")
	fromEnv := env.Provider("", env.Opt{Prefix: envPrefix, EnvironFunc: environ, TransformFunc: func(name, value string) (string, any) {
		key := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, envPrefix), "_", "-"))
		if value == "" || fs.Lookup(key) == nil {
			return "", nil
		}
		return key, value
	}})
	if err := k.Load(fromEnv, nil); err != nil {
		return fmt.Errorf("read the environment: %w", err)
	}
	name := k.String(configFlag)
	if f := fs.Lookup(configFlag); f.Changed {
		name = f.Value.String()
	}
	settingsFile := koanf.New("\x00") // no key has structure
	if name != "" {
		if err := settingsFile.Load(file.Provider(name), yaml.Parser()); err != nil {
			return fmt.Errorf("read the configuration file %s: %w", name, err)
		}
	}
	fileValues, err := checkFile(fs, name, settingsFile.Raw())
	if err != nil {
		return err
	}
	var errs []error
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == configFlag {
			return
		}
		switch {
		case k.Exists(f.Name):
			if err := fs.Set(f.Name, k.String(f.Name)); err != nil {
				errs = append(errs, fmt.Errorf("environment variable %s: %w", envName(f.Name), err))
			}
		case fileValues[f.Name] != nil:
			if err := fs.Set(f.Name, *fileValues[f.Name]); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
			}
		}
	})
	return errors.Join(errs...)
}

// checkFile refuses keys that do not exist and values that are no scalars or
// lists of them.
func checkFile(fs *pflag.FlagSet, name string, raw map[string]any) (map[string]*string, error) {
	values := map[string]*string{}
	var errs []error
	for key, v := range raw {
		if fs.Lookup(key) == nil || key == configFlag || slices.Contains(commandFlags, key) {
			errs = append(errs, fmt.Errorf("%s: there is no setting %q%s; weft --help lists them", name, key, workflow.DidYouMean(key, settingNames(fs))))
			continue
		}
		text, err := scalar(v)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", name, key, err))
			continue
		}
		values[key] = &text
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return values, errors.Join(errs...)
}

func settingNames(fs *pflag.FlagSet) (names []string) {
	fs.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(commandFlags, f.Name) {
			names = append(names, f.Name)
		}
	})
	return names
}

// strays are variables of the environment that are nearly settings, with those. Others that begin as ours do are of
// the commands, or of Kubernetes.
func strays(fs *pflag.FlagSet, environ []string) map[string]string {
	names, found := settingNames(fs), map[string]string{}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		key, ours := strings.CutPrefix(name, envPrefix)
		if key = strings.ToLower(strings.ReplaceAll(key, "_", "-")); !ours || value == "" || fs.Lookup(key) != nil {
			continue
		}
		if near := workflow.Nearest(key, names); near != "" {
			found[name] = envName(near)
		}
	}
	return found
}

// commandFlags are those of commands, and no settings.
var commandFlags = []string{"help", "version", jsonFlag}

func scalar(v any) (string, error) {
	switch v := v.(type) {
	case map[string]any:
		return "", errors.New("it must be a value, not a mapping")
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			part, err := scalar(e)
			if err != nil {
				return "", err
			}
			parts[i] = part
		}
		return strings.Join(parts, ","), nil
	case nil:
		return "", errors.New("it has no value")
	default:
		return fmt.Sprint(v), nil
	}
}

func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// resolved lists the settings that differ from their defaults for the log, secrets masked.
func resolved(fs *pflag.FlagSet) []any {
	var out []any
	fs.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(commandFlags, f.Name) && f.Value.String() != f.DefValue {
			out = append(out, slog.String(f.Name, mask(f)))
		}
	})
	return out
}

// mask hides passwords inside of URLs; no setting holds a secret itself, only
// names of files.
func mask(f *pflag.Flag) string {
	if s, ok := f.Value.(pflag.SliceValue); ok {
		parts := s.GetSlice()
		for i, p := range parts {
			parts[i] = maskURL(p)
		}
		return strings.Join(parts, ",")
	}
	return maskURL(f.Value.String())
}

func maskURL(s string) string {
	if u, err := url.Parse(s); err == nil && u.User != nil {
		s = u.Redacted()
	}
	// What is no URL, or has its password in another place, is logged before it is refused.
	return passwordWord.ReplaceAllString(passwordOfUser.ReplaceAllString(s, "${1}xxxxx@"), "${1}xxxxx")
}

var (
	passwordOfUser = regexp.MustCompile(`(://[^:/@]*:)[^/]*@`)
	passwordWord   = regexp.MustCompile(`(?i)(password\s*=\s*)('[^']*'|[^&\s]+)`)
)
