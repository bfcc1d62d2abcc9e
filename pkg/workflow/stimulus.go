package workflow

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/weft-run/weft/pkg/workflow/value"
)

// Activity types that are known by name, and events of the journal.
const (
	EventType      = "Elsa.Event"       // whose stimuli POST /events sends
	TaskType       = "Elsa.RunTask"     // whose bookmarks are tasks: GET /tasks lists them
	RetryType      = "Elsa.RetryPolicy" // whose bookmarks are pauses between two attempts: see [Bookmark.Retry]
	CompensateType = "Elsa.Compensate"  // which undoes by hand
	ScopeType      = "Elsa.Scope"       // which undoes what was done in it; a definition in which something has an undo is one
	LimitType      = "Elsa.WithLimit"   // whose bookmarks wait for a place of a limit: see pkg/workflow/limit
	TaskAnswered   = "TaskAnswered"     // a worker that had claimed a task reported its result, or its error
	EventUndoing   = "Undoing"          // a scope begins to undo what was done in it
	EventUndone    = "Undone"           // an activity, which the text names, was undone
	TaskTimedOut   = "TaskTimedOut"     // an attempt at a task ended by time: nobody reported anything
)

// Stimulus is an outside event: what a bookmark or a trigger waits for.
type Stimulus struct {
	ActivityType  string         `json:"activityType"`
	Payload       any            `json:"payload,omitempty"` // hashed; JSON-like
	CorrelationID string         `json:"correlationId,omitempty"`
	InstanceID    string         `json:"instanceId,omitempty"` // addressed
	BookmarkID    string         `json:"bookmarkId,omitempty"` // addressed to one place
	Input         map[string]any `json:"input,omitempty"`      // handed to what it resumes or starts
}

// EventStimulus is the stimulus of the named event; payload reaches the Event
// activity as its result.
func EventStimulus(name string, payload any) Stimulus {
	return Stimulus{ActivityType: EventType, Payload: EventPayload(name), Input: map[string]any{EventInput: payload}}
}

// EventInput is the input key under which an event's payload travels.
const EventInput = "payload"

// EventPayload is the hashed part of an event's stimulus.
func EventPayload(name string) map[string]any { return map[string]any{"eventName": name} }

// EventName is the name of the event; "" if it is none.
func (s *Stimulus) EventName() string {
	payload, _ := s.Payload.(map[string]any)
	name, _ := payload["eventName"].(string)
	if s.ActivityType != EventType {
		return ""
	}
	return name
}

// Hash identifies what a stimulus is about: activity type and payload, not
// correlation or address. Payloads of equal meaning hash equal: the order of
// object keys and the spelling of numbers (1, 1.0, 1e0) do not count. It
// returns 32 characters of [A-Za-z0-9_-], or an error when payload has no JSON
// form.
func Hash(activityType string, payload any) (string, error) {
	var b bytes.Buffer
	b.WriteString(activityType)
	b.WriteByte('\n')
	if err := canonical(&b, payload); err != nil {
		return "", fmt.Errorf("hash stimulus of %s: %w", activityType, err)
	}
	sum := sha256.Sum256(b.Bytes())
	return base64.RawURLEncoding.EncodeToString(sum[:24]), nil
}

// canonical writes v as JSON with sorted keys and normalised numbers.
func canonical(b *bytes.Buffer, v any) error {
	if isPlain(v) {
		return writeCanonical(b, v)
	}
	raw, err := value.Marshal(v) // which refuses names that would be the same
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return err
	}
	return writeCanonical(b, tree)
}

// isPlain reports whether v, as most payloads, is what encoding and decoding would
// make of it: an object of texts.
func isPlain(v any) bool {
	m, ok := v.(map[string]any)
	if !ok || m == nil {
		return false
	}
	for k, e := range m {
		text, ok := e.(string)
		if !ok || !utf8.ValidString(text) || !utf8.ValidString(k) { // what is not valid is changed on the way
			return false
		}
	}
	return true
}

func writeCanonical(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case map[string]any:
		b.WriteByte('{')
		for i, k := range sortedKeys(v) {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeCanonical(b, k); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := writeCanonical(b, v[k]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeCanonical(b, e); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case json.Number:
		b.WriteString(canonicalNumber(v.String()))
	default:
		raw, err := json.Marshal(v)
		if err != nil {
			return err
		}
		b.Write(raw)
	}
	return nil
}

// canonicalNumber writes a number as [Number] has it, from any spelling. A number
// with an exponent of more than 32 bits stays the text that it is.
func canonicalNumber(text string) string {
	switch v := value.Number(text).(type) {
	case int64:
		text = strconv.FormatInt(v, 10)
	case float64: // of decimals, the nearest is kept
		text = strconv.FormatFloat(v, 'e', -1, 64)
	}
	d, err := value.ParseDecimal(text)
	if err != nil {
		return text
	}
	return d.String()
}
