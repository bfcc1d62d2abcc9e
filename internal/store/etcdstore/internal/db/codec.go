package db

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// CompressAbove is from how many bytes on values, which are JSON, are zstd frames. They are
// told apart by their magic number, which no JSON text starts with.
const CompressAbove = 4 << 10

// smallAbove is from when on the record of an instance is compressed better. One that waits at
// thousands of places becomes a fifth smaller by that, in no more time.
const smallAbove = 256 << 10

// What is written can be read: a value is held against a limit before it is
// compressed, far below what may be read. What an instance or an author makes is held
// against MaxEncoded; what a node writes again, with a note of its own, or hands on
// as something else, against MaxPassed, so that what was once accepted goes on.
const (
	MaxEncoded = 16 << 20
	MaxPassed  = 32 << 20
	MaxDecoded = 64 << 20               // what may be read
	MaxWaits   = 64 << 20               // what the places where an instance waits may add to its record
	MaxJoined  = MaxPassed + 2*MaxWaits // what a record has with its parts: where it waits, and where it did
)

// How values are compressed, and read again.
var (
	ZstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	Encoder   = must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)))
	smallest  = must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1)))
	Decoder   = must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(MaxDecoded)))
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // only wrong options do this
	}
	return v
}

// Encode gives the stored form of v: JSON, compressed above 4 KiB. [ErrTooLarge]: it
// has more bytes before it is compressed than are ever to be read again.
func Encode(v any) ([]byte, error) { return EncodeWithin(v, MaxEncoded) }

// EncodeWithin is [Encode] with another limit.
func EncodeWithin(v any, limit int) ([]byte, error) {
	raw, err := workflow.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", nameOf(v), err)
	}
	return pack(v, raw, limit)
}

// pack makes of v, which is raw as JSON, what is kept.
func pack(v any, raw []byte, limit int) ([]byte, error) {
	if len(raw) > limit {
		return nil, fmt.Errorf("%w: a record of %d bytes before it is compressed (at most %d)", ErrTooLarge, len(raw), limit)
	}
	if _, instance := v.(*store.Record); instance && len(raw) > smallAbove {
		return smallest.EncodeAll(raw, make([]byte, 0, len(raw)/4)), nil
	}
	if len(raw) > CompressAbove {
		return Encoder.EncodeAll(raw, make([]byte, 0, len(raw)/2)), nil
	}
	return raw, nil
}

// named is a value that errors call by this name, such as "etcdstore.timerEntry", and not by its
// type: people look for the text of an error, which stays where the type moves.
type named interface{ StoredAs() string }

// nameOf is what errors call a value.
func nameOf(v any) string {
	n, ok := v.(named)
	if !ok {
		return fmt.Sprintf("%T", v)
	}
	name := n.StoredAs()
	if reflect.TypeOf(v).Kind() == reflect.Pointer {
		name = "*" + name
	}
	return name
}

// ErrDamaged marks a record that is not what any program wrote, or that holds more
// than is read. Nobody goes on with it: lists show its key, sweeps pass it by, and an
// instance can be deleted.
var ErrDamaged = errors.New("damaged record")

// Decode reads what [Encode] wrote. Numbers keep their value in untyped places:
// see [workflow.Number]. What cannot be read is [ErrDamaged].
func Decode(raw []byte, v any) error {
	raw, err := Inflate(raw, v)
	if err == nil {
		err = workflow.Unmarshal(raw, v)
	}
	if err != nil {
		return fmt.Errorf("%w: decode %s: %w", ErrDamaged, nameOf(v), err)
	}
	return nil
}

// Inflate gives the JSON of a stored value; v says in errors what it is.
func Inflate(raw []byte, v any) ([]byte, error) {
	if !bytes.HasPrefix(raw, ZstdMagic) {
		return raw, nil
	}
	out, err := Decoder.DecodeAll(raw, nil)
	if err != nil {
		return nil, fmt.Errorf("decompress %s: %w", nameOf(v), err)
	}
	return out, nil
}

// DecodeWhole is [Decode] for records that a node acts upon: it writes them again,
// or makes others of them. What a newer program put into them would be lost by
// that, so a record in which anything is unknown is an error, of the code
// not-runnable-here: the record is left to nodes that know all of it. It wraps
// [ErrDamaged] if not even what this program knows can be read.
func DecodeWhole(stored []byte, v any) error {
	raw, err := Inflate(stored, v)
	if err == nil {
		err = workflow.UnmarshalKnown(raw, v)
	}
	if err == nil {
		return nil
	}
	if damage := Decode(stored, reflect.New(reflect.TypeOf(v).Elem()).Interface()); damage != nil {
		err = damage
	}
	return &workflow.Error{Code: workflow.CodeNotRunnable, Err: err,
		Detail: fmt.Sprintf("the program of this node cannot read all of a record (%s), as another version wrote it", nameOf(v))}
}

// Left counts a record that is left alone because this program cannot read all of
// it, and says so, but not for each.
func (s *Conn) Left(key []byte, err error) {
	s.Metrics.Unreadable()
	now := time.Now().UnixNano()
	if said := s.Said.Load(); now-said > int64(leftSaid) && s.Said.CompareAndSwap(said, now) {
		s.Log.Warn("a record is left to other nodes: the program of this one cannot read all of it", "key", string(key), "error", err)
	}
}

// leftSaid is how long the log is silent about the next such record.
const leftSaid = 10 * time.Second

// DecodedBytes tells how many bytes of JSON a value is.
func DecodedBytes(raw []byte) int {
	var h zstd.Header
	if bytes.HasPrefix(raw, ZstdMagic) && h.Decode(raw) == nil && h.HasFCS {
		return int(h.FrameContentSize)
	}
	return len(raw)
}
