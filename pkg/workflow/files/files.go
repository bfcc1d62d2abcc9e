package files

import "encoding/json"

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
	return kept
}

// Of are the rules that a bookmark kept; nil if it kept none.
func Of(kept any) *Rules {
	m, ok := kept.(map[string]any)
	var r Rules
	if raw, err := json.Marshal(m); !ok || err != nil || json.Unmarshal(raw, &r) != nil {
		return nil
	}
	return &r
}
