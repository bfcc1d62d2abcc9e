package etcdstore

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/weft-run/weft/pkg/workflow"
)

// Values are JSON; those above compressAbove bytes are zstd frames, told apart
// by their magic number, which no JSON text starts with.
const compressAbove = 4 << 10

// maxDecoded bounds what a compressed value may grow to.
const maxDecoded = 64 << 20

var (
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	encoder   = must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)))
	decoder   = must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxDecoded)))
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // only wrong options do this
	}
	return v
}

// Encode gives the stored form of v: JSON, compressed above 4 KiB.
func Encode(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	if len(raw) > compressAbove {
		return encoder.EncodeAll(raw, make([]byte, 0, len(raw)/2)), nil
	}
	return raw, nil
}

// Decode reads what [Encode] wrote. Numbers keep their value in untyped places:
// see [workflow.Number].
func Decode(raw []byte, v any) error {
	if bytes.HasPrefix(raw, zstdMagic) {
		var err error
		if raw, err = decoder.DecodeAll(raw, nil); err != nil {
			return fmt.Errorf("decompress %T: %w", v, err)
		}
	}
	if err := workflow.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("decode %T: %w", v, err)
	}
	return nil
}
