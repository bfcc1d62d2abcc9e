package text

import "fmt"

// RefusalError is an edit that cannot be made.
type RefusalError struct {
	Code   string
	At     int // -1: nowhere
	Detail string
}

// Error is the reason.
func (r *RefusalError) Error() string { return r.Detail }

// Refuse refuses an edit for what stands at a place; -1: nowhere.
func Refuse(at int, format string, args ...any) error {
	return &RefusalError{"edit-refused", at, fmt.Sprintf(format, args...)}
}

// Bad refuses an edit that asks for what cannot be.
func Bad(format string, args ...any) error {
	return &RefusalError{"bad-edit", -1, fmt.Sprintf(format, args...)}
}
