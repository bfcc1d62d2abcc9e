package files

import (
	"encoding/json"
	"fmt"
	"mime"
	"strings"
	"unicode"
)

// Rules are for each file. Nothing of a form is kept, and nothing starts, before its files were held against them.
type Rules struct {
	MaxSize int64    `json:"maxSize,omitempty"` // bytes; 0: as many as the body; below: only empty files
	Allowed []string `json:"allowed,omitempty"` // extensions; empty: any
	Blocked []string `json:"blocked,omitempty"` // extensions
	Types   []string `json:"types,omitempty"`   // MIME types; empty: any

	// What a file that does not fit is refused with is an outcome instead: the workflow goes on without the files.
	SizeGoesOn      bool `json:"sizeGoesOn,omitempty"`
	ExtensionGoesOn bool `json:"extensionGoesOn,omitempty"`
	TypeGoesOn      bool `json:"typeGoesOn,omitempty"`

	Unreadable bool `json:"unreadable,omitempty"` // what was kept of the rules cannot be read: no file keeps them
}

// Outcomes of an endpoint whose files do not fit its rules, where it has them as outcomes.
const (
	TooLarge  = "File too large"
	Extension = "Invalid file extension"
	Type      = "Invalid file MIME type"
)

// Kept is what a bookmark keeps of the rules.
func (r *Rules) Kept() map[string]any {
	var kept map[string]any
	raw, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(raw, &kept)
	}
	if err != nil {
		panic(err) // texts and numbers have a form
	}
	if r.MaxSize != 0 {
		kept["maxSize"] = r.MaxSize // whole: a float64 has only the numbers up to 2^53
	}
	return kept
}

// Of are the rules that a bookmark kept; nil if it kept none.
func Of(kept any) *Rules {
	if kept == nil {
		return nil
	}
	m, ok := kept.(map[string]any)
	var r Rules
	if raw, err := json.Marshal(m); !ok || err != nil || json.Unmarshal(raw, &r) != nil {
		return &Rules{Unreadable: true}
	}
	return &r
}

// CheckExtensions says which entry of a list of extensions is none: no file has it, so that it would allow or block
// nothing.
func CheckExtensions(list []string) error {
	for _, e := range list {
		bare := strings.TrimPrefix(strings.TrimSpace(e), ".")
		wrong := func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`.,;:/\*?"<>|`, r)
		}
		if bare == "" || strings.ContainsFunc(bare, wrong) {
			return fmt.Errorf(`%q is not the extension of any file: write one an entry, such as [.pdf, .txt], without * and with what is behind the last dot (.gz, and not .tar.gz)`, e)
		}
	}
	return nil
}

// CheckTypes says which entry of a list of MIME types is none.
func CheckTypes(list []string) error {
	for _, t := range list {
		media, _, err := mime.ParseMediaType(t)
		if err != nil || strings.Count(media, "/") != 1 || strings.Contains(media, "*") {
			return fmt.Errorf(`%q is not a MIME type: write one an entry, such as [application/pdf, image/png], without *`, t)
		}
	}
	return nil
}
