package auth

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/internal/follow"
)

// keyPrefix starts every API key, so that people and scanners for leaked secrets
// recognise one.
const keyPrefix = "weft_"

// KeyEntry is one API key as the file has it: not the key, its hash. A key has
// 256 random bits, so a plain hash is enough: there is nothing to guess.
type KeyEntry struct {
	Name    string     `yaml:"name"`
	Role    string     `yaml:"role"`
	SHA256  string     `yaml:"sha256"`
	Expires *time.Time `yaml:"expires,omitempty"`
	Groups  []string   `yaml:"groups,omitempty"` // of who has the key, for tasks of people and policies
}

// NewKey makes an API key and its entry. The key is shown once and kept nowhere.
func NewKey(name string, role Role, expires *time.Time) (key string, entry KeyEntry, err error) {
	raw := make([]byte, 32)
	if _, err := rand.Read(raw); err != nil {
		return "", KeyEntry{}, fmt.Errorf("make an API key: %w", err)
	}
	key = keyPrefix + base64.RawURLEncoding.EncodeToString(raw)
	sum := sha256.Sum256([]byte(key))
	return key, KeyEntry{Name: name, Role: role.String(), SHA256: hex.EncodeToString(sum[:]), Expires: expires}, nil
}

// noKeys is a file of API keys by which no key counts. An empty file does not say so: that is
// also what a full disk leaves, or a writer that was interrupted.
const noKeys = "none"

// ErrNoKeys says that a file of API keys has no entry, and does not say that this is meant.
var ErrNoKeys = errors.New("it has no entry; a file with the one word none says that no key counts")

// ParseKeyFile reads a file of API keys: a list in YAML of [KeyEntry], or the word none. It says
// everything that is wrong at once. Of a file without an entry it gives [ErrNoKeys].
func ParseKeyFile(src []byte) ([]KeyEntry, error) {
	var whole any
	if err := loadOne(src, &whole); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("it must be a list of entries with name, role, sha256 and, if wanted, expires: %w", err)
	}
	switch v := whole.(type) {
	case nil: // empty, or comments only
		return nil, ErrNoKeys
	case []any:
		if len(v) == 0 {
			return nil, ErrNoKeys
		}
	case string:
		if v == noKeys {
			return nil, nil
		}
	}
	var entries []KeyEntry
	if err := loadOne(src, &entries); err != nil {
		return nil, fmt.Errorf("it must be a list of entries with name, role, sha256 and, if wanted, expires: %w", err)
	}
	_, err := tabulate(entries)
	return entries, err
}

// loadOne reads the one document of a file; io.EOF if there is none.
func loadOne(src []byte, into any) error {
	loader, err := yaml.NewLoader(bytes.NewReader(src), yaml.WithKnownFields())
	if err != nil {
		return err
	}
	if err := loader.Load(into); err != nil {
		return err
	}
	if !errors.Is(loader.Load(new(any)), io.EOF) {
		return errors.New("it has something after its list; there must be one list")
	}
	return nil
}

var (
	keyName   = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)
	groupName = regexp.MustCompile(`^[^\pC]{1,128}$`)
)

// key is one entry, ready to be compared.
type key struct {
	hash      [sha256.Size]byte
	expires   time.Time // zero: never
	principal *Principal
}

// keyTable finds a key by the start of its hash. The start of a hash of random
// bits tells nothing about the key; the rest is compared in constant time.
type keyTable map[[8]byte][]key

func tabulate(entries []KeyEntry) (keyTable, error) {
	table := keyTable{}
	names, hashes := map[string]bool{}, map[string]bool{}
	var errs []error
	for i, e := range entries {
		wrong := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("entry %d (%q): "+format, append([]any{i + 1, e.Name}, args...)...))
		}
		role, err := ParseRole(e.Role)
		if err != nil {
			wrong("%w", err)
		}
		hash, err := hex.DecodeString(e.SHA256)
		if err != nil || len(hash) != sha256.Size {
			wrong("sha256 must have 64 hexadecimal digits; weft apikey makes an entry")
		}
		if !keyName.MatchString(e.Name) {
			wrong("the name must match %s", keyName)
		}
		lower := strings.ToLower(e.SHA256)
		if names[e.Name] || hashes[lower] {
			wrong("the name or the key is there twice")
		}
		if err := checkGroups(e.Groups); err != nil {
			wrong("%w", err)
		}
		names[e.Name], hashes[lower] = true, true
		if len(errs) > 0 {
			continue
		}
		k := key{principal: &Principal{Name: "key:" + e.Name, Role: role, Groups: e.Groups, By: ByKey}}
		copy(k.hash[:], hash)
		if e.Expires != nil {
			k.expires, k.principal.Expires = *e.Expires, *e.Expires
		}
		start := [8]byte(k.hash[:8])
		table[start] = append(table[start], k)
	}
	return table, errors.Join(errs...)
}

// mostGroups is of how many groups the holder of a key is.
const mostGroups = 50

func checkGroups(groups []string) error {
	if len(groups) > mostGroups {
		return fmt.Errorf("it has %d groups; a key may have %d", len(groups), mostGroups)
	}
	for _, g := range groups {
		if !groupName.MatchString(g) {
			return fmt.Errorf("the group %q is none: it has 1 to 128 characters, and no control characters", g)
		}
	}
	return nil
}

// Keys are the API keys of a file. Make it with [OpenKeys].
type Keys struct {
	path   string
	log    *slog.Logger
	source []byte // what table was made of; only Run and OpenKeys use it
	table  atomic.Pointer[keyTable]

	// Unread is told when the file cannot be taken as it is, and when it can again. It is set before Run.
	Unread func(bool)
}

// OpenKeys reads the file. An error says what is wrong with it.
func OpenKeys(path string, log *slog.Logger) (*Keys, error) {
	k := &Keys{path: path, log: log}
	if _, err := k.read(); err != nil {
		return nil, err
	}
	return k, nil
}

// Run reads the file again and again until ctx ends. A file that cannot be read, has a mistake, is
// empty or cut changes nothing and is complained about.
func (k *Keys) Run(ctx context.Context) error {
	return follow.Run(ctx, func(ctx context.Context) error {
		n, err := k.read()
		if err == nil && n >= 0 {
			k.log.InfoContext(ctx, "API keys read", slog.Int("keys", n))
		}
		return err
	}, func(ctx context.Context, err error) {
		if k.Unread != nil {
			k.Unread(err != nil)
		}
		if err == nil {
			k.log.InfoContext(ctx, "the file of API keys is well again", slog.String("file", k.path))
			return
		}
		k.log.ErrorContext(ctx, "API keys not read again; those from before still count", slog.Any("error", err))
	})
}

// read takes over what the file has; n is -1 if that is nothing new.
func (k *Keys) read() (n int, err error) {
	src, err := os.ReadFile(k.path)
	if err != nil {
		return 0, fmt.Errorf("read auth-keys-file: %w", err)
	}
	if k.table.Load() != nil && bytes.Equal(src, k.source) {
		return -1, nil
	}
	entries, err := ParseKeyFile(src)
	if err == nil && cutInEntry(k.source, src) {
		err = errors.New("it ends within an entry that it had before")
	}
	if err != nil {
		return 0, fmt.Errorf("auth-keys-file %s: %w", k.path, err)
	}
	table, err := tabulate(entries)
	if err != nil {
		return 0, err
	}
	k.source = src
	k.table.Store(&table)
	return len(entries), nil
}

// cutInEntry tells whether a file of API keys is the beginning of what it was, up to within an
// entry: without its last line, expires, a key would count for ever. A file that ends where another
// entry began is one whose last entries were deleted.
func cutInEntry(before, now []byte) bool {
	if !follow.Cut(before, now) {
		return false
	}
	rest := before[len(now):]
	if !bytes.HasSuffix(now, []byte("\n")) && !bytes.HasPrefix(rest, []byte("\n")) && !bytes.HasPrefix(rest, []byte("\r\n")) {
		return true
	}
	_, dash := firstLine(before)
	line, at := firstLine(rest)
	return len(line) > 0 && (line[0] != '-' || at != dash) // a group of an entry stands further in
}

// firstLine is the first line that says something, and how far in it begins.
func firstLine(src []byte) (line []byte, at int) {
	for all := range bytes.Lines(src) {
		if line = bytes.TrimSpace(all); len(line) > 0 && line[0] != '#' {
			return line, bytes.Index(all, line)
		}
	}
	return nil, 0
}

// find gives the caller who has this key.
func (k *Keys) find(token string) (*Principal, error) {
	var buf [128]byte // a conversion would allocate
	if len(token) > len(buf) {
		return nil, refused("the API key is unknown")
	}
	return k.of(sha256.Sum256(buf[:copy(buf[:], token)]))
}

// of gives the caller whose key has this hash.
func (k *Keys) of(sum [sha256.Size]byte) (*Principal, error) {
	same := (*k.table.Load())[[8]byte(sum[:8])]
	i := slices.IndexFunc(same, func(e key) bool { return subtle.ConstantTimeCompare(e.hash[:], sum[:]) == 1 })
	switch {
	case i < 0:
		return nil, refused("the API key is unknown; it may have been revoked")
	case !same[i].expires.IsZero() && !time.Now().Before(same[i].expires):
		return nil, refused("the API key has expired")
	}
	return same[i].principal, nil
}
