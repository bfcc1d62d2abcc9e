package commands

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"

	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// Files reads the files that lie beside an instance, for its export: those that have no room among most bytes are without
// their content.
func (c *Commander) Files(ctx context.Context, id string, most int64) ([]front.StateFile, error) {
	held, err := c.cfg.Contents.List(ctx, id)
	if err != nil {
		return nil, err
	}
	list := make([]front.StateFile, len(held))
	for i := range held {
		data, err := c.cfg.Contents.Whole(ctx, id, held[i])
		if err != nil {
			return nil, err
		}
		list[i] = front.StateFile{Hash: held[i].Hash, Bytes: int64(len(data)), LeftOut: int64(len(data)) > most}
		if !list[i].LeftOut {
			list[i].Content = data
			most -= int64(len(data))
		}
	}
	return list, nil
}

// bring keeps the files of an import beside the instance, before that is there, and gives all that it has to have. Nothing
// is kept if one is missing, or another than its hash says.
func (c *Commander) bring(ctx context.Context, id string, in *front.StateExport, raw []byte) ([]files.Content, error) {
	list := in.Files
	if list == nil { // of a program that told of none
		for _, hash := range named(id, raw) {
			list = append(list, front.StateFile{Hash: hash, LeftOut: true})
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	held, err := c.cfg.Contents.List(ctx, id)
	if err != nil {
		return nil, err
	}
	there := map[string]files.Content{}
	for i := range held {
		there[held[i].Hash] = held[i].Content
	}
	var problems workflow.Problems
	for i := range list {
		f := &list[i]
		sum := sha256.Sum256(f.Content)
		_, has := there[f.Hash]
		switch {
		case f.LeftOut && !has:
			problems = append(problems, fileProblem("missing-file", i, fmt.Sprintf("the file %s is not in the export, and not beside instance %s here: what refers to it could not be read. Export the instance with its files, or end it where it is", f.Hash, id)))
		case !f.LeftOut && (hex.EncodeToString(sum[:]) != f.Hash || int64(len(f.Content)) != f.Bytes):
			problems = append(problems, fileProblem("damaged-file", i, fmt.Sprintf("the file %s of %d bytes is another one in the export: what is there has %d bytes, and the SHA-256 %s. Export the instance again", f.Hash, f.Bytes, len(f.Content), hex.EncodeToString(sum[:]))))
		}
	}
	if len(problems) > 0 {
		return nil, &workflow.Error{Code: workflow.CodeInvalid, Detail: "files of the instance are missing, or not as they were; nothing was imported", Problems: problems}
	}
	var all []files.Content
	for i := range list {
		kept := there[list[i].Hash]
		if !list[i].LeftOut {
			err := front.RetryUnknown(ctx, func() (err error) {
				kept, err = c.cfg.Contents.Put(ctx, id, false, list[i].Content)
				return err
			})
			if err != nil {
				return nil, err
			}
		}
		all = append(all, kept)
	}
	return all, nil
}

func fileProblem(code string, at int, detail string) workflow.Problem {
	return workflow.Problem{Code: code, Detail: detail, Place: workflow.Place{Pointer: fmt.Sprintf("/files/%d", at)}}
}

// named are the files of an instance that its state refers to, each once.
func named(id string, raw []byte) (hashes []string) {
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(regexp.QuoteMeta("weft-file:"+id+"/")+"([0-9a-f]{64})").FindAllSubmatch(raw, -1) {
		if hash := string(m[1]); !seen[hash] {
			seen[hash] = true
			hashes = append(hashes, hash)
		}
	}
	return hashes
}
