package workflow

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

// Bounds of what clients choose.
const (
	MaxIDLength   = 128 // characters of ids
	MaxNameLength = 256 // bytes of event names and correlation ids
)

// Suffixes make the ids of what a timeout (a Fork) and a retry are written for from the id of the activity that has them.
const (
	TimeoutSuffix = ".timeout"
	RetrySuffix   = ".retry"
)

// ScopeSuffix makes the id of the scope that a whole definition is from that of its root.
const ScopeSuffix = ".scope"

// An id may come to have a tenant before it, and a cell before that, as in
// 07!acme~order-1. Both are reserved: no id is given out like that, none is taken, and what
// has neither will be of the first cell and of no tenant, as it is now. What
// begins with ~ is none of either: records of our own are called so.
const tenantMark, cellMark = '~', '!'

// idEncoding keeps the order of what it encodes.
var idEncoding = base32.NewEncoding(generatedLetters).WithPadding(base32.NoPadding)

// Ids that are made here have 16 bytes, and so many letters.
const generatedLetters, generatedLength = "0123456789abcdefghijklmnopqrstuv", 26

// NewID makes an id of 26 characters of [0-9a-v]: a UUID of version 7, so that what was
// made later comes later. It stands in every key that is about it, so it is short.
func NewID() string {
	id := uuid.Must(uuid.NewV7())
	return idEncoding.EncodeToString(id[:])
}

// DeriveID makes a stable id of the same form from its parts, each taken whole: no two
// different lists of parts give the same input.
func DeriveID(parts ...string) string {
	var space [256]byte // enough for most, so that nothing is allocated
	b := space[:0]
	for _, p := range parts {
		b = strconv.AppendInt(b, int64(len(p)), 10)
		b = append(b, ':')
		b = append(b, p...)
	}
	sum := sha256.Sum256(b)
	return idEncoding.EncodeToString(sum[:16])
}

// Generated tells whether an id has the form of those of [NewID] and [DeriveID].
func Generated(id string) bool {
	return len(id) == generatedLength && strings.Trim(id, generatedLetters) == ""
}

// CheckID returns an error that says what is wrong with an id chosen by a
// client; what names the field. Ids match [A-Za-z0-9._:-]{1,128} and are not . or ..,
// which would be part of no URL.
func CheckID(what, id string) error {
	if id == "" || len(id) > MaxIDLength {
		return fmt.Errorf("%s must have 1 to %d characters, it has %d", what, MaxIDLength, len(id))
	}
	if id == "." || id == ".." {
		return fmt.Errorf("%s is %q, which a path takes for a directory", what, id)
	}
	for i, r := range id {
		switch r {
		case tenantMark:
			return fmt.Errorf("%s has ~ at position %d, which is reserved: what stands before it will be a tenant, and there are none yet; allowed are letters, digits and . _ : -", what, i+1)
		case cellMark:
			return fmt.Errorf("%s has ! at position %d, which is reserved: what stands before it will be a cell, and there are none yet; allowed are letters, digits and . _ : -", what, i+1)
		}
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._:-", r)) {
			return fmt.Errorf("%s has %q at position %d; allowed are letters, digits and . _ : -", what, r, i+1)
		}
	}
	return nil
}

// Qualified tells whether an id has a tenant, a cell, or both before it, as those of a newer
// program may have. [CheckID] refuses it. What is no id behind them, or has nothing before
// the mark, is not one.
func Qualified(id string) bool {
	bare := id
	for _, mark := range []string{string(cellMark), string(tenantMark)} {
		if before, behind, ok := strings.Cut(bare, mark); ok {
			if CheckID("", before) != nil {
				return false
			}
			bare = behind
		}
	}
	return bare != id && CheckID("", bare) == nil
}

// CheckName does the same for event names and correlation ids: any UTF-8 up to
// 256 bytes.
func CheckName(what, name string) error {
	if len(name) > MaxNameLength {
		return fmt.Errorf("%s may have up to %d bytes, it has %d", what, MaxNameLength, len(name))
	}
	if !utf8.ValidString(name) {
		return fmt.Errorf("%s is not valid UTF-8", what)
	}
	return nil
}

// CheckSendable is [CheckName] for what is sent by its name in a path of the API, as events are and as tasks are looked
// for: an empty one and those that mean a place in a path ("/", ".", "..") would be waited for for ever.
func CheckSendable(what, name string) error {
	switch name {
	case "":
		return fmt.Errorf("%s is empty: nothing could be sent to it", what)
	case "/", ".", "..":
		return fmt.Errorf("%s is %q, which is a place in a path: nothing could be sent to it", what, name)
	}
	return CheckName(what, name)
}

// BookmarkID makes the id of a bookmark: the instance's id, ~, and a part that
// is unique within the instance and has no ~.
func BookmarkID(instanceID, local string) string { return instanceID + "~" + local }

// SplitBookmarkID gives the two parts of a bookmark id, also of one whose instance has
// a tenant; the second one is "" if it is no bookmark id.
func SplitBookmarkID(bookmarkID string) (instanceID, local string) {
	if i := strings.LastIndexByte(bookmarkID, '~'); i >= 0 {
		return bookmarkID[:i], bookmarkID[i+1:]
	}
	return bookmarkID, ""
}

// BookmarkInstance gives the instance id inside a bookmark id, or false if it
// is not a bookmark id.
func BookmarkInstance(bookmarkID string) (string, bool) {
	id, local := SplitBookmarkID(bookmarkID)
	if local == "" || CheckID("bookmark", id) != nil {
		return "", false
	}
	return id, true
}

// LocalPayload is what is hashed of a bookmark that only its own id meets.
func LocalPayload(bookmarkID string, payload any) map[string]any {
	return map[string]any{"bookmark": bookmarkID, "payload": payload}
}

// MeetsHash reports whether a bookmark has the hash that its stimulus has, or that of one which only its own id meets.
func MeetsHash(b *Bookmark) bool {
	for _, payload := range []any{b.Payload, LocalPayload(b.ID, b.Payload)} {
		if hash, err := Hash(b.ActivityType, payload); err == nil && hash == b.Hash {
			return true
		}
	}
	return false
}
