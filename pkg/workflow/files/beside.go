package files

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"
)

// MaxSize is how many bytes a file has at most that lies beside an instance.
const MaxSize = 16 << 20

// Content names a file that lies beside the state of an instance: what an HTTP endpoint took, or an activity kept.
type Content struct {
	Hash string `json:"hash"` // its SHA-256, in hexadecimal
	// Created is when it was there, as the store counts: the commit that makes an instance compares it. What is kept of a
	// command is of an instance that is there, and has none.
	Created int64 `json:"-"`
}

// Store keeps files beside one instance, and reads them.
type Store interface {
	// Keep keeps a file until the next commit, and from then on as long as the instance. Keeping it again does nothing.
	Keep(ctx context.Context, data []byte) (Content, error)
	// Read reads a file of the instance, of its parent or of a child of it. Returns content-not-found, also for those of others.
	Read(ctx context.Context, ref Ref) ([]byte, error)
	// Check is the error of Read, without what that reads.
	Check(ctx context.Context, ref Ref) error
}

// Beside is the store of an instance as its activities have it: what is in a file is in no state and no journal.
type Beside struct {
	Of       Store // nil: no files are kept
	Instance string
	Redact   func(string) string // a text without the values of secrets
	Kept     *[]Content          // gets each file, which is the next commit's
}

var errNone = errors.New("this node keeps no files")

// Keep keeps a file with the next commit. Texts are kept without the values of secrets. Returns too-large for more than
// [MaxSize] bytes, or if the instance has too many.
func (b Beside) Keep(ctx context.Context, name, contentType string, data []byte) (Ref, error) {
	if b.Of == nil {
		return Ref{}, errNone
	}
	if utf8.Valid(data) {
		data = []byte(b.Redact(string(data)))
	}
	kept, err := b.Of.Keep(ctx, data)
	if err != nil {
		return Ref{}, err
	}
	*b.Kept = append(*b.Kept, kept)
	valid := func(text string) string { return strings.ToValidUTF8(text, "\ufffd") }
	return Ref{Instance: b.Instance, Hash: kept.Hash, Bytes: int64(len(data)), Name: valid(name), Type: valid(contentType)}, nil
}

// Read reads a file. Returns content-not-found if it is not there, or not this instance's, its parent's or a child's.
func (b Beside) Read(ctx context.Context, ref Ref) ([]byte, error) {
	if b.Of == nil {
		return nil, errNone
	}
	return b.Of.Read(ctx, ref)
}

// Check is the error of [Beside.Read], without reading it all.
func (b Beside) Check(ctx context.Context, ref Ref) error {
	if b.Of == nil {
		return errNone
	}
	return b.Of.Check(ctx, ref)
}
