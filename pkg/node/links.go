package node

import (
	"context"
	"crypto/rand"
	"strings"

	"github.com/weft-run/weft/internal/httpapi"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// readLinkKeys reads the keys of resume links from --link-key-file, one a line, or
// takes the one that the cluster keeps in etcd, which the first node makes.
func readLinkKeys(ctx context.Context, file string, store *etcdstore.Store) (resumelink.Keys, error) {
	if file != "" {
		return resumelink.ReadKeys(file)
	}
	made := make([]byte, resumelink.MinKey)
	if _, err := rand.Read(made); err != nil {
		return nil, err
	}
	key, err := store.LinkKey(ctx, made)
	if err != nil {
		return nil, err
	}
	return resumelink.Keys{key}, nil
}

// link makes the URL of a resume link.
func (n *Node) link(l resumelink.Link) (string, error) {
	token, err := n.linkKeys.Sign(l)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(n.URL(), "/") + httpapi.LinkPath(token), nil
}
