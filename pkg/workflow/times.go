package workflow

import (
	"time"

	"github.com/weft-run/weft/pkg/workflow/value"
)

// The years of the times that Weft keeps: their keys have the order of the times, and RFC 3339 can write them. In
// lists of instances, which begin with the newest, the order ends with 2286.
const (
	FirstYear = 1970
	LastYear  = value.LastYear
)

// KeepsTime tells whether a time is of those years, in UTC.
func KeepsTime(t time.Time) bool {
	year := t.UTC().Year()
	return year >= FirstYear && year <= LastYear
}
