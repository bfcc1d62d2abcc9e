// Package follow reads files again while a node runs, so that what was renewed
// counts without a restart.
//
// It guarantees that a mistake in a file is told once for as long as it lasts,
// that its end is told too, and that a look which fails is followed by the next. It does not guarantee that
// every version of a file is seen, nor that two files are seen at one moment:
// who reads them keeps what counted before until what it reads is whole. It does
// not keep what was read; that is its caller's.
package follow

import (
	"bytes"
	"context"
	"time"
)

// Every is how soon a change counts. Files are read as a whole: they are small,
// and times and sizes of files can hide a change.
const Every = 2 * time.Second

// Run calls look every [Every] until ctx ends. An error of look goes to tell,
// unless the look before had the same; nil goes there after a look that failed.
func Run(ctx context.Context, look func(context.Context) error, tell func(context.Context, error)) error {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	for told := ""; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		err, text := look(ctx), ""
		if err != nil {
			text = err.Error()
		}
		if text != told {
			told = text
			tell(ctx, err)
		}
	}
}

// Cut tells whether now is the beginning of before, which lacks more than space at its end: what a
// writer leaves who was interrupted, or a full disk, and hardly anybody means.
func Cut(before, now []byte) bool {
	rest, ok := bytes.CutPrefix(before, now)
	return ok && len(bytes.TrimSpace(rest)) > 0
}
