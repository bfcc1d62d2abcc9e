package contents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

const (
	// PieceBytes is how many bytes of a file one key has.
	PieceBytes = 1 << 20
	// MostPieces is how many pieces an instance may have: of a file at least one.
	MostPieces = 128
)

// Contents keeps files beside instances.
type Contents struct{ conn *record.Conn }

// New is the files over a connection.
func New(c *record.Conn) *Contents { return &Contents{c} }

// Keys are those of a connection.
func Keys(c *record.Conn) record.ContentKeys { return record.ContentKeys{Root: c.Keys.Root} }

// Hash is by which a file is known.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// pieces is how many a file of so many bytes has.
func pieces(size int) int { return max(1, (size+PieceBytes-1)/PieceBytes) }

// Put keeps a file beside an instance; known: that is there, and the file is not kept if it is not any more. What is there
// already is not put again. Returns too-large if the file or all of the instance have more than they may, and
// instance-not-found.
//
// A transaction for each piece. If: the piece is absent; the instance exists, if it is known. Then: put it. Else: look which
// of the two it was. Both can become true again, and then a late copy puts a piece of a file of that
// instance: it says nothing new, and goes with it.
func (s *Contents) Put(ctx context.Context, instance string, known bool, data []byte) (files.Content, error) {
	if len(data) > files.MaxSize {
		return files.Content{}, workflow.Fail(workflow.CodeTooLarge, fmt.Sprintf("a file has %d bytes; one may have up to %d", len(data), files.MaxSize))
	}
	c := files.Content{Hash: Hash(data)}
	n := pieces(len(data))
	there, of, err := s.look(ctx, instance, c.Hash)
	if err != nil {
		return c, err
	}
	if first := firstOf(there); first != nil && len(there) >= n {
		c.Created = first.CreateRevision
		return c, nil
	}
	if of-int64(len(there))+int64(n) > MostPieces {
		return c, workflow.Fail(workflow.CodeTooLarge, fmt.Sprintf("the files of instance %s have %d pieces of up to %d bytes, and one of %d bytes is too much for it: an instance may have %d pieces", instance, of, PieceBytes, len(data), MostPieces))
	}
	for i := n - 1; i >= 0; i-- { // the first one last
		if err := s.putPiece(ctx, instance, known, c.Hash, i, data[i*PieceBytes:min(len(data), (i+1)*PieceBytes)]); err != nil {
			return c, err
		}
	}
	// A piece that another had put may have been swept in between. From here on none is: the first one is new.
	there, _, err = s.look(ctx, instance, c.Hash)
	if err != nil {
		return c, err
	}
	first := firstOf(there)
	if first == nil || len(there) != n {
		return c, workflow.Fail(workflow.CodeUnavailable, fmt.Sprintf("a file of instance %s was removed while it was kept; try again", instance))
	}
	c.Created = first.CreateRevision
	return c, nil
}

// look gives the pieces of a file that are there, without their values, and how many the instance has in all.
func (s *Contents) look(ctx context.Context, instance, hash string) (there []*mvccpb.KeyValue, of int64, err error) {
	k := Keys(s.conn)
	var ask db.Reads
	mine := ask.Add(clientv3.OpGet(k.Content(instance, hash), clientv3.WithPrefix(), clientv3.WithKeysOnly()))
	all := ask.Add(clientv3.OpGet(k.ContentsOf(instance), clientv3.WithPrefix(), clientv3.WithCountOnly()))
	resp, err := s.conn.Read(ctx, "look for the files of instance "+instance, ask.Ops...)
	if err != nil {
		return nil, 0, err
	}
	return mine.In(resp).Kvs, all.In(resp).Count, nil
}

// firstOf is the first piece of a file; nil: it is not there.
func firstOf(there []*mvccpb.KeyValue) *mvccpb.KeyValue {
	if len(there) > 0 && strings.HasSuffix(string(there[0].Key), "/00") {
		return there[0]
	}
	return nil
}

func (s *Contents) putPiece(ctx context.Context, instance string, known bool, hash string, n int, data []byte) error {
	key := Keys(s.conn).Piece(instance, hash, n)
	t := s.conn.Begin("keep a file of instance "+instance, db.Absent(key))
	if known {
		t.When(db.Exists(s.conn.Keys.Instance(instance)))
	}
	t.PutRaw(key, packed(data))
	there := t.Otherwise.Count(key)
	resp, err := t.Submit(ctx)
	if err != nil {
		return err
	}
	if resp.Succeeded || there.Found(resp) {
		return nil
	}
	return workflow.Fail(workflow.CodeInstanceNotFound, fmt.Sprintf("there is no instance %s for which a file could be kept", instance))
}

// How a piece is stored: a byte that says how, and the rest.
const (
	plain = 0
	zstd  = 1
)

// packed is the stored form of a piece: compressed, if that makes it smaller.
func packed(data []byte) []byte {
	if small := db.Encoder.EncodeAll(data, append(make([]byte, 0, len(data)/2+64), zstd)); len(small) <= len(data) {
		return small
	}
	return append([]byte{plain}, data...)
}

// unpacked is a piece as it was.
func unpacked(stored []byte) ([]byte, error) {
	if len(stored) == 0 {
		return nil, fmt.Errorf("%w: a piece of a file that says nothing", db.ErrDamaged)
	}
	switch stored[0] {
	case plain:
		return stored[1:], nil
	case zstd:
		if size := db.DecodedBytes(stored[1:]); size > PieceBytes {
			return nil, fmt.Errorf("%w: a piece of a file has %d bytes", db.ErrDamaged, size)
		}
		data, err := db.Decoder.DecodeAll(stored[1:], nil)
		if err != nil {
			return nil, fmt.Errorf("%w: a piece of a file: %w", db.ErrDamaged, err)
		}
		return data, nil
	}
	return nil, fmt.Errorf("%w: a piece of a file is kept in the form %d, which this program does not know", db.ErrDamaged, stored[0])
}

// Piece reads one piece of a file. Returns content-not-found if it is not there.
func (s *Contents) Piece(ctx context.Context, instance, hash string, n int) ([]byte, error) {
	resp, err := s.conn.Get(ctx, "read a file of instance "+instance, Keys(s.conn).Piece(instance, hash, n))
	if err != nil {
		return nil, err
	}
	if len(resp.Kvs) == 0 {
		return nil, notFound(instance, hash)
	}
	return unpacked(resp.Kvs[0].Value)
}

// PieceAt reads the piece that has the byte at a place, and tells where the piece begins.
func (s *Contents) PieceAt(ctx context.Context, instance, hash string, at int64) (piece []byte, begins int64, err error) {
	n := int(at / PieceBytes)
	piece, err = s.Piece(ctx, instance, hash, n)
	return piece, int64(n) * PieceBytes, err
}

// Get reads a file of so many bytes, and holds it against its hash. Returns content-not-found if it is not there.
func (s *Contents) Get(ctx context.Context, instance, hash string, size int64) ([]byte, error) {
	if size < 0 || size > files.MaxSize {
		return nil, workflow.Fail(workflow.CodeTooLarge, fmt.Sprintf("no file has %d bytes; one may have up to %d", size, files.MaxSize))
	}
	data := make([]byte, 0, size)
	for n := range pieces(int(size)) {
		piece, err := s.Piece(ctx, instance, hash, n)
		if err != nil {
			return nil, err
		}
		data = append(data, piece...)
	}
	if Hash(data) != hash || int64(len(data)) != size {
		return nil, fmt.Errorf("%w: the file %s of instance %s is another one, or has not %d bytes", db.ErrDamaged, hash, instance, size)
	}
	return data, nil
}

// Stands is the error of [Contents.Get] of a file whose pieces are not all there, or cannot be so many bytes.
func (s *Contents) Stands(ctx context.Context, instance, hash string, size int64) error {
	there, _, err := s.look(ctx, instance, hash)
	if err != nil {
		return err
	}
	if firstOf(there) == nil || size < 0 || size > files.MaxSize || len(there) != pieces(int(size)) {
		return notFound(instance, hash)
	}
	return nil
}

// notFound says that a file is not there.
func notFound(instance, hash string) error {
	return workflow.Fail(workflow.CodeContentNotFound, fmt.Sprintf("the file %s of instance %s is not there (any more): files go with their instance", hash, instance))
}

// ParentOf is the id of the instance that started another one; "" if there is none, or no such instance.
func (s *Contents) ParentOf(ctx context.Context, instance string) (string, error) {
	resp, err := s.conn.Get(ctx, "read instance "+instance, s.conn.Keys.Instance(instance))
	if err != nil || len(resp.Kvs) == 0 {
		return "", err
	}
	var rec store.Record
	if err := db.Decode(resp.Kvs[0].Value, &rec); err != nil || rec.Header.Parent == nil {
		return "", err
	}
	return rec.Header.Parent.InstanceID, nil
}

// There are the compares that files are as they were put, for the commit that makes their instance.
func There(c *record.Conn, instance string, list []files.Content) (cmps []clientv3.Cmp) {
	seen := map[string]bool{}
	for _, f := range list {
		if !seen[f.Hash] {
			seen[f.Hash] = true
			cmps = append(cmps, db.CreatedAt(Keys(c).Piece(instance, f.Hash, 0), f.Created))
		}
	}
	return cmps
}

// Compares are those of a commit: of one that makes the instance. Later they go only with it, which a commit compares anyway.
func Compares(c *record.Conn, commit *store.Commit) []clientv3.Cmp {
	if commit.Before != nil {
		return nil
	}
	return There(c, commit.After.Header.ID, commit.Files())
}

// Weight is for how many keys the files of an instance count that is deleted.
func Weight(rec *store.Record) int64 {
	if rec.Contents {
		return MostPieces
	}
	return 0
}

// DeleteOf deletes the files of an instance, if it has any.
func DeleteOf(c *record.Conn, o *db.Ops, rec *store.Record) {
	if rec.Contents {
		Delete(c, o, rec.Header.ID)
	}
}

// Delete deletes all files of an instance, of which there are a bounded number.
func Delete(c *record.Conn, o *db.Ops, instance string) {
	o.Tail = append(o.Tail, clientv3.OpDelete(Keys(c).ContentsOf(instance), clientv3.WithPrefix()))
}
