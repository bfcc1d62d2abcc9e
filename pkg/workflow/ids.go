package workflow

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxIDLength and MaxNameLength bound ids chosen by clients (in characters) and
// event names and correlation ids (in bytes).
const (
	MaxIDLength   = 128
	MaxNameLength = 256
)

// TimeoutSuffix makes the id of the Fork that a timeout is written for from the
// id of the activity that has it.
const TimeoutSuffix = ".timeout"

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
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._:-", r)) {
			return fmt.Errorf("%s has %q at position %d; allowed are letters, digits and . _ : -", what, r, i+1)
		}
	}
	return nil
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

// BookmarkID makes the id of a bookmark: the instance's id, ~, and a part that
// is unique within the instance. ~ occurs in no id.
func BookmarkID(instanceID, local string) string { return instanceID + "~" + local }

// BookmarkInstance gives the instance id inside a bookmark id, or false if it
// is not a bookmark id.
func BookmarkInstance(bookmarkID string) (string, bool) {
	id, local, ok := strings.Cut(bookmarkID, "~")
	if !ok || local == "" || CheckID("bookmark", id) != nil {
		return "", false
	}
	return id, true
}
