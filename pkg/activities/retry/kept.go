package retry

import (
	"errors"
	"time"
)

// Kept is what a policy looks at of a failure, for who keeps the failure over a save and raises it again behind that.
type Kept struct {
	URL        string        `json:"url,omitempty"`
	Status     int           `json:"status,omitempty"` // of an answer that is a failure; 0: it is none
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	Lasting    bool          `json:"lasting,omitempty"`
}

// Keep takes it of a failure; hide makes a text one that may be kept.
func Keep(failure error, hide func(string) string) (k Kept) {
	var status *StatusError
	if errors.As(failure, &status) {
		k.URL, k.Status, k.RetryAfter = hide(status.URL), status.Status, status.RetryAfter
	}
	var lasting *LastingError
	k.Lasting = errors.As(failure, &lasting)
	return k
}

// As is a failure with these words that is to a policy what the kept one was. It is of these kinds, too.
func (k Kept) As(text string, kinds ...error) error {
	if k.Status != 0 {
		kinds = append(kinds, &StatusError{URL: k.URL, Status: k.Status, RetryAfter: k.RetryAfter})
	}
	if k.Lasting {
		kinds = append(kinds, &LastingError{Err: errors.New(text)})
	}
	return &keptError{text, kinds}
}

type keptError struct {
	text  string
	kinds []error
}

func (e *keptError) Error() string   { return e.text }
func (e *keptError) Unwrap() []error { return e.kinds }
