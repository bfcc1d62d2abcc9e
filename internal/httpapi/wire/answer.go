package wire

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// leastGzipped is from how many bytes on an answer is worth compressing: below, it is one packet either way.
const leastGzipped = 2 << 10

var writers = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // only a wrong level does this
	}
	return w
}}

// Gzipped compresses the body of an answer, if it is large enough and the caller takes it, and says so in the head of the
// answer. What is asked with a cookie is not compressed: the page of another site could have it sent, and guess by its
// length what stands beside what the page chose.
func Gzipped(r *http.Request, h http.Header, body []byte) []byte {
	if len(body) < leastGzipped || h["Content-Encoding"] != nil {
		return body
	}
	h.Add("Vary", "Accept-Encoding")
	if r.Header["Cookie"] != nil || !takesGzip(r.Header) {
		return body
	}
	out := &buffer{make([]byte, 0, len(body)/8)}
	w := writers.Get().(*gzip.Writer)
	defer writers.Put(w)
	w.Reset(out)
	_, err := w.Write(body)
	if cerr := w.Close(); err != nil || cerr != nil || len(out.b) >= len(body) {
		return body
	}
	h.Set("Content-Encoding", "gzip")
	return out.b
}

type buffer struct{ b []byte }

func (b *buffer) Write(p []byte) (int, error) {
	b.b = append(b.b, p...)
	return len(p), nil
}

// takesGzip reads Accept-Encoding (RFC 9110): gzip, or anything, of a quality that is not 0.
func takesGzip(h http.Header) bool {
	all, named := false, false
	for _, header := range h["Accept-Encoding"] {
		for part := range strings.SplitSeq(header, ",") {
			coding, params, _ := strings.Cut(part, ";")
			good := true
			if name, value, ok := strings.Cut(params, "="); ok && strings.TrimSpace(name) == "q" {
				q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
				good = err == nil && q > 0
			}
			switch strings.ToLower(strings.TrimSpace(coding)) {
			case "gzip", "x-gzip":
				if !good {
					return false
				}
				named = true
			case "*":
				all = good
			}
		}
	}
	return named || all
}

// Known tells whether a caller has what an ETag names, by If-None-Match.
func Known(h http.Header, tag string) bool {
	if tag == "" {
		return false
	}
	for _, header := range h["If-None-Match"] {
		for part := range strings.SplitSeq(header, ",") {
			if part = strings.TrimSpace(part); part == "*" || strings.TrimPrefix(part, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}
