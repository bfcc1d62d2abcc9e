// Package inflate reads bodies that came compressed over HTTP.
//
// It guarantees that no more is unpacked than is asked for, and that what is not read whole is an error.
package inflate

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Codings are the ways in which a body may be compressed, as the header Accept-Encoding says it.
const Codings = "gzip, deflate"

// CodingError says that a body is compressed in a way that is not read.
type CodingError struct{ Coding string }

func (e *CodingError) Error() string {
	return fmt.Sprintf("the body has the Content-Encoding %.40q; send it as it is, or with gzip or deflate", e.Coding)
}

// ErrNotCompressed marks a body that is not compressed as its head says.
var ErrNotCompressed = errors.New("it is not compressed as its Content-Encoding says")

// Plain is a body as it was before it was compressed, of limit bytes at most: one that has more ends with
// [http.MaxBytesError]. Error: [CodingError], before anything is read.
func Plain(h http.Header, body io.Reader, limit int64) (io.Reader, error) {
	codings := h["Content-Encoding"]
	if len(codings) == 0 {
		return body, nil
	}
	coding := strings.ToLower(strings.TrimSpace(strings.Join(codings, ",")))
	switch coding {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip", "deflate":
		return &inflated{from: bufio.NewReader(body), coding: coding, limit: limit}, nil
	}
	return nil, &CodingError{coding}
}

// inflated is a compressed body as it was before.
type inflated struct {
	from   *bufio.Reader
	coding string
	plain  io.Reader // nil: nothing was read yet
	given  int64
	limit  int64
}

func (r *inflated) Read(p []byte) (int, error) {
	if r.plain == nil {
		if err := r.open(); err != nil {
			return 0, r.as(err)
		}
	}
	n, err := r.plain.Read(p[:min(int64(len(p)), r.limit+1-r.given)])
	if r.given += int64(n); r.given > r.limit {
		return n, &http.MaxBytesError{Limit: r.limit}
	}
	if err != nil && err != io.EOF { //nolint:errorlint // readers give it as it is
		err = r.as(err)
	}
	return n, err
}

// open finds out how it is compressed. Deflate is zlib by the standard, and by some clients without the frame of zlib.
func (r *inflated) open() (err error) {
	head, err := r.from.Peek(2)
	if len(head) == 0 && errors.Is(err, io.EOF) { // who has nothing compresses nothing
		r.plain = r.from
		return nil
	}
	if len(head) < 2 {
		return err
	}
	switch {
	case r.coding != "deflate":
		r.plain, err = gzip.NewReader(r.from)
	case head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0:
		r.plain, err = zlib.NewReader(r.from)
	default:
		r.plain = flate.NewReader(r.from)
	}
	return err
}

// as tells what is wrong with the bytes apart from what ended the connection.
func (r *inflated) as(err error) error {
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, zlib.ErrHeader) || errors.Is(err, zlib.ErrChecksum) || errors.As(err, &corrupt) {
		return fmt.Errorf("%w: %w", ErrNotCompressed, err)
	}
	return err
}
