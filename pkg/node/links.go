package node

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"

	"github.com/weft-run/weft/internal/httpapi"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// readLinkKeys reads the keys of resume links from --link-key-file, one a line, or
// takes the one that the cluster keeps in etcd, which the first node makes.
func readLinkKeys(ctx context.Context, file string, store *etcdstore.Store) (resumelink.Keys, error) {
	if file != "" {
		return linkKeysOf(file)
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

func linkKeysOf(file string) (resumelink.Keys, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("link-key-file: %w", err)
	}
	var keys resumelink.Keys
	for line := range strings.FieldsSeq(string(raw)) {
		if len(line) < resumelink.MinKey {
			return nil, fmt.Errorf("link-key-file %s: key %d has %d characters; it needs at least %d, such as weft secret FILE writes", file, len(keys)+1, len(line), resumelink.MinKey)
		}
		keys = append(keys, []byte(line))
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("link-key-file %s has no key in it; weft secret FILE writes one", file)
	}
	return keys, nil
}

// link makes the URL of a resume link.
func (n *Node) link(l resumelink.Link) (string, error) {
	token, err := n.linkKeys.Sign(l)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(n.URL(), "/") + httpapi.LinkPath(token), nil
}
