package etcdstore

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// linkKey is the value of meta/link-key.
type linkKey struct {
	Key []byte `json:"key"`
}

// LinkKey gives the key that the cluster's resume links are signed with. The first
// node that asks makes it what it proposes.
//
// If: there is none yet; it is never changed. A repeat finds its own.
func (s *Store) LinkKey(ctx context.Context, proposed []byte) ([]byte, error) {
	raw, err := Encode(linkKey{proposed})
	if err != nil {
		return nil, err
	}
	key := s.keys.links()
	resp, err := s.txn(ctx, "agree on the key of links", []clientv3.Cmp{absent(key)},
		[]clientv3.Op{clientv3.OpPut(key, string(raw))}, []clientv3.Op{clientv3.OpGet(key)})
	if err != nil {
		return nil, err
	}
	if resp.Succeeded {
		return proposed, nil
	}
	var k linkKey
	if err := Decode(resp.Responses[0].GetResponseRange().Kvs[0].Value, &k); err != nil {
		return nil, err
	}
	return k.Key, nil
}
