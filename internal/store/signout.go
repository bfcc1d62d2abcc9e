package store

import "time"

// SignOut says which sessions of the console count no more, before their time.
type SignOut struct {
	Until time.Time // when the last of them would have ended; after that it is forgotten

	Who     string    // the person's name, as the caller of the API is called
	Session string    // the id of the one session; "": all of the person
	Before  time.Time // of all: those that began behind an earlier one, to the millisecond
}
