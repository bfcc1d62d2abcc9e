package dev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/activities/declared"
	"github.com/weft-run/weft/pkg/apiclient"
)

// maxBody is what the API takes.
const maxBody = 1 << 20

// publisher publishes files, and says what came of each.
type publisher struct {
	api *apiclient.Client
	say func(format string, args ...any)

	done     map[string]string // by file: the content that was published
	ids      map[string]string // by file: its definition
	from     map[string]string // by definition: the file that was published last
	versions map[string]int64  // by definition
	problems map[string]string // by file: what is in the way, as it was said
}

func newPublisher(api *apiclient.Client, say func(format string, args ...any)) *publisher {
	return &publisher{
		api: api, say: say, done: map[string]string{}, ids: map[string]string{}, from: map[string]string{}, versions: map[string]int64{}, problems: map[string]string{},
	}
}

// publish publishes files. A file that is refused is tried again once another was published,
// which it may need; what is in its way is said at the end. The error is one of the node, and
// not of a definition.
func (p *publisher) publish(ctx context.Context, files []string) error {
	refused, saved := map[string]string{}, slices.Clone(files)
	for progress := true; progress; {
		progress = false
		for _, name := range files {
			problem, published, err := p.file(ctx, name)
			if err != nil {
				return err
			}
			progress = progress || published
			if delete(refused, name); problem != "" {
				refused[name] = problem
			}
		}
		files = slices.Sorted(maps.Keys(refused))
		if progress {
			for name := range p.problems {
				if !slices.Contains(files, name) {
					files = append(files, name)
				}
			}
		}
		progress = progress && len(files) > 0
	}
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		if p.problems[name] != refused[name] || slices.Contains(saved, name) {
			p.problems[name] = refused[name]
			p.say("not published  %s", refused[name])
		}
	}
	return nil
}

// file publishes a file, unless what it has was published before. It gives what is in the way.
func (p *publisher) file(ctx context.Context, name string) (problem string, published bool, err error) {
	src, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist): // the next look says so
		return "", false, nil
	case err != nil:
		return err.Error(), false, nil //nolint:nilerr // it is said about the file
	case len(src) > maxBody:
		return fmt.Sprintf("%s: it is larger than a definition may be (%d KiB)", name, maxBody>>10), false, nil
	case strings.TrimSpace(string(src)) == "":
		return name + ": it is empty", false, nil
	case declared.IsDeclaration(src, name) && p.done[name] != string(src):
		p.done[name] = string(src)
		p.say("activity type  %s: these are read when weft dev starts, from the directory of --activities", name)
		return "", false, nil
	case p.done[name] == string(src):
		return "", false, nil
	}
	made, err := p.api.PublishDefinition(ctx, src, apiclient.PublishDefinitionQuery{File: filepath.Base(name)}, ask.ContentType(name))
	var refusal *apiclient.ProblemError
	if errors.As(err, &refusal) && !refusal.Temporary() {
		if len(refusal.Errors) == 0 {
			return name + ": " + refusal.Error(), false, nil
		}
		return name + placed(name, refusal.Errors), false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("publish %s: %w", name, err)
	}
	p.took(name, src, &made.Body)
	return "", true, nil
}

// took notes that a file was published, and says it.
func (p *publisher) took(name string, src []byte, made *apiclient.Published) {
	before := p.ids[name]
	switch other := p.from[made.ID]; {
	case before != "" && before != made.ID:
		p.say("renamed        %s was %s, which stays published until: weft definitions retract %s", name, before, before)
		if p.from[before] == name {
			delete(p.from, before)
		}
	case other != "" && other != name && p.ids[other] == made.ID:
		p.say("warning        %s and %s are the same definition, %s: the one that is saved last counts", other, name, made.ID)
	}
	delete(p.problems, name)
	p.done[name], p.ids[name], p.from[made.ID] = string(src), made.ID, name
	if p.versions[made.ID] == made.Version && len(made.Warnings) == 0 {
		p.say("as it was      %s v%d  %s", made.ID, made.Version, name)
		return
	}
	p.versions[made.ID] = made.Version
	p.say("published      %s v%d  %s%s", made.ID, made.Version, name, placed(name, made.Warnings))
}

// placed are problems as weft validate shows them, each below.
func placed(name string, items []apiclient.ProblemItem) string {
	text := ""
	for _, item := range items {
		text += "\n" + ask.Placed(name, item)
	}
	return text
}

// gone says what became of the definition of a file that is no more.
func (p *publisher) gone(name string) {
	id := p.ids[name]
	delete(p.problems, name)
	delete(p.done, name)
	delete(p.ids, name)
	if id == "" || p.from[id] != name {
		return
	}
	delete(p.from, id)
	p.say("gone           %s: %s stays published until: weft definitions retract %s", name, id, id)
}

// try is the command that runs the first definition that can be run, "" if there is none.
func (p *publisher) try(ctx context.Context) string {
	ids := slices.Sorted(maps.Keys(p.from))
	if len(ids) == 0 {
		return ""
	}
	id := ids[0]
	if slices.Contains(ids, "hello") {
		id = "hello"
	}
	line := "weft run " + id
	src, err := p.api.GetDefinition(ctx, id, apiclient.GetDefinitionQuery{}, apiclient.Accept("application/json"))
	if err != nil {
		return line // it is a hint
	}
	var def struct {
		Inputs []struct {
			Name string `json:"name"`
		} `json:"inputs"`
	}
	if json.Unmarshal(src.Bytes, &def) == nil {
		for _, in := range def.Inputs {
			line += " -i " + in.Name + "=…"
		}
	}
	return line
}
