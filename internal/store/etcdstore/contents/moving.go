package contents

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// Held is a file that lies beside an instance.
type Held struct {
	files.Content
	Pieces int
}

// List gives the files that lie beside an instance, in the order of their hashes: those of which all pieces are there.
func (s *Contents) List(ctx context.Context, instance string) (list []Held, err error) {
	below := Keys(s.conn).ContentsOf(instance)
	resp, err := s.conn.Get(ctx, "list the files of instance "+instance, below, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return nil, err
	}
	for _, kv := range resp.Kvs {
		hash, piece, _ := strings.Cut(strings.TrimPrefix(string(kv.Key), below), "/")
		n, err := strconv.Atoi(piece)
		last := len(list) - 1
		switch {
		case err != nil:
		case n == 0:
			list = append(list, Held{files.Content{Hash: hash, Created: kv.CreateRevision}, 1})
		case last >= 0 && list[last].Hash == hash && list[last].Pieces == n:
			list[last].Pieces++
		}
	}
	return list, nil
}

// Whole reads a file of [Contents.List], and holds it against its hash. Returns content-not-found if it is not there any more.
func (s *Contents) Whole(ctx context.Context, instance string, of Held) ([]byte, error) {
	var data []byte
	for n := range of.Pieces {
		piece, err := s.Piece(ctx, instance, of.Hash, n)
		if err != nil {
			return nil, err
		}
		data = append(data, piece...)
	}
	if Hash(data) != of.Hash {
		return nil, fmt.Errorf("%w: the file %s of instance %s is another one", db.ErrDamaged, of.Hash, instance)
	}
	return data, nil
}
