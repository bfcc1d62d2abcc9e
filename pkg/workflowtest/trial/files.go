package trial

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// kept are the files of an instance of a test, which has those of all others too.
type kept struct {
	run      *Run
	instance string
}

var _ files.Store = kept{}

func placeOf(instance, hash string) files.Ref { return files.Ref{Instance: instance, Hash: hash} }

func (k kept) Keep(_ context.Context, data []byte) (files.Content, error) {
	if len(data) > files.MaxSize {
		return files.Content{}, workflow.Fail(workflow.CodeTooLarge, fmt.Sprintf("a file has %d bytes; one may have up to %d", len(data), files.MaxSize))
	}
	sum := sha256.Sum256(data)
	c := files.Content{Hash: hex.EncodeToString(sum[:])}
	at := placeOf(k.instance, c.Hash)
	if _, there := k.run.files[at]; there {
		return c, nil
	}
	if err := k.run.cfg.bounds.keep(len(data)); err != nil {
		return c, err
	}
	if k.run.files == nil {
		k.run.files = map[files.Ref][]byte{}
	}
	k.run.files[at] = data
	return c, nil
}

func (k kept) Read(_ context.Context, ref files.Ref) ([]byte, error) {
	data, there := k.run.files[placeOf(ref.Instance, ref.Hash)]
	if !there {
		return nil, workflow.Fail(workflow.CodeContentNotFound, "there is no file "+ref.Hash+" of instance "+ref.Instance)
	}
	return data, nil
}

func (k kept) Check(ctx context.Context, ref files.Ref) error {
	_, err := k.Read(ctx, ref)
	return err
}

// take keeps the files that the input of an endpoint has as text, as a node does before the endpoint gets it.
func (k kept) take(input map[string]any) (map[string]any, error) {
	list, _ := input["files"].([]any)
	if len(list) == 0 {
		return input, nil
	}
	input, out := maps.Clone(input), make([]any, len(list))
	for i, v := range list {
		m, _ := v.(map[string]any)
		text, ok := m["content"].(string)
		if !ok {
			return nil, errors.New("files are objects with content, a text, and fileName, contentType and name")
		}
		c, err := k.Keep(context.Background(), []byte(text))
		if err != nil {
			return nil, err
		}
		ref := files.Ref{Instance: k.instance, Hash: c.Hash, Bytes: int64(len(text))}
		ref.Name, _ = m["fileName"].(string)
		ref.Type, _ = m["contentType"].(string)
		ref.Field, _ = m["name"].(string)
		out[i] = ref.Value()
	}
	input["files"] = out
	return input, nil
}

// body is what the caller of an endpoint gets.
func (k kept) body(of *workflow.Response) []byte {
	if of.File == nil {
		return of.Body
	}
	return k.run.files[placeOf(of.File.Instance, of.File.Hash)]
}
