package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/weft-run/weft/internal/authoring/graph"
)

// file is one that pages load. It never changes while the program runs.
type file struct {
	whole, small []byte // small: by gzip
	etag, typ    string
}

// files are those that pages load, by their names.
type files map[string]*file

// readFiles reads the files of pages, once, in both forms.
func readFiles(static fs.FS) (files, error) {
	all := files{}
	names, err := fs.Glob(static, "static/*")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		raw, err := fs.ReadFile(static, name)
		if err != nil {
			return nil, err
		}
		if all[path.Base(name)], err = newFile(path.Base(name), raw); err != nil {
			return nil, err
		}
	}
	all["graph.css"], err = newFile("graph.css", []byte(graph.Style()))
	return all, err
}

func newFile(name string, raw []byte) (*file, error) {
	var small bytes.Buffer
	zip, err := gzip.NewWriterLevel(&small, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := zip.Write(raw); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(raw)
	return &file{whole: raw, small: small.Bytes(), etag: `"` + hex.EncodeToString(sum[:8]) + `"`, typ: mime.TypeByExtension(path.Ext(name))}, nil
}

// serve serves what pages load. A browser asks each time whether it is still so: a newer
// program has newer ones.
func (all files) serve(w http.ResponseWriter, r *http.Request) {
	f := all[r.PathValue("name")]
	if f == nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", f.etag)
	h.Set("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == f.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.typ)
	body := f.whole
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.small
	}
	_, _ = w.Write(body) // the reader may be gone
}
