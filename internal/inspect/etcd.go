package inspect

import "github.com/weft-run/weft/internal/store/etcdstore"

// Etcd is how etcd answers this node, with what is wrong in words.
type Etcd = etcdstore.Health
