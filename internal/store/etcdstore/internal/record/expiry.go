package record

import "time"

// Records of our own commands live this long; those of callers' keys a day, if
// nothing else is configured.
const (
	RecordTTL = 10 * time.Minute
	KeyTTL    = 24 * time.Hour
)

// ExpirePage is how many entries of the expiry index are read at a time.
const ExpirePage = 1000
