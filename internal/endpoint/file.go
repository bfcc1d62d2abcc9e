package endpoint

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow/files"
)

const pieceWait = 10 * time.Second // for one piece of a file

// OpenFile is the file of an answer, which is there; it reads of a range only the pieces that it touches. next is called before each.
func OpenFile(ctx context.Context, of *etcdstore.Contents, ref files.Ref, next func()) (io.ReadSeeker, error) {
	if err := of.Stands(ctx, ref.Instance, ref.Hash, ref.Bytes); err != nil {
		return nil, etcdstore.ReadFailed("the file of the answer", err)
	}
	return &fileReader{ctx: context.WithoutCancel(ctx), of: of, ref: ref, next: next}, nil
}

// fileReader reads a file piece by piece.
type fileReader struct {
	ctx   context.Context //nolint:containedctx // [io.Reader] takes none
	of    *etcdstore.Contents
	ref   files.Ref
	next  func()
	at    int64
	piece []byte
	first int64 // where the piece begins
}

func (f *fileReader) Read(p []byte) (int, error) {
	if f.at >= f.ref.Bytes {
		return 0, io.EOF
	}
	if f.at < f.first || f.at >= f.first+int64(len(f.piece)) {
		f.next()
		ctx, cancel := context.WithTimeout(f.ctx, pieceWait)
		defer cancel()
		piece, first, err := f.of.PieceAt(ctx, f.ref.Instance, f.ref.Hash, f.at)
		if err != nil {
			return 0, err
		}
		if f.piece, f.first = piece, first; f.at >= f.first+int64(len(piece)) {
			return 0, io.ErrUnexpectedEOF
		}
	}
	n := copy(p, f.piece[f.at-f.first:])
	f.at += int64(n)
	return n, nil
}

// Seek is as [io.Seeker] has it.
func (f *fileReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += f.ref.Bytes
	}
	if offset < 0 {
		return 0, errors.New("before the beginning of a file")
	}
	f.at = offset
	return offset, nil
}
