package refresh

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/pkg/activities/declared"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// LocalReloader reads a directory on this node, also if others do it too.
type LocalReloader struct {
	Dir     string           // "": there is none, and nothing to reload
	Catalog *catalog.Catalog // required
	Log     *slog.Logger     // required
	Metrics *metrics.Metrics // nil: none
}

var _ Reloader = (*LocalReloader)(nil)

// Reload publishes what was never published under its id. The result lists the
// definitions that were read, also those that were known, and the files that
// are bad, with every problem. An error means that the directory cannot be read
// or that the store does not answer.
func (l *LocalReloader) Reload(ctx context.Context) (Result, error) {
	began := time.Now()
	r, err := l.reload(ctx)
	l.Metrics.Refresh(metrics.TargetReload, outcomeOf(err), time.Since(began))
	return r, err
}

func (l *LocalReloader) reload(ctx context.Context) (Result, error) {
	r := newResult(Completed)
	if l.Dir == "" {
		return r, nil
	}
	files, err := readDirectory(l.Dir)
	if err != nil {
		return r, &workflow.Error{Code: workflow.CodeInternal, Detail: "the directory of definitions cannot be read", Err: err}
	}
	todo := l.distinctIDs(ctx, files, &r)
	// One definition may use another one as an activity that comes later: go round
	// as long as that gets further.
	for progress := true; progress && len(todo) > 0; {
		progress = false
		var left []source
		for _, s := range todo {
			res, err := l.Catalog.Publish(ctx, s.request)
			switch {
			case err == nil:
				progress = true
				r.Revision = max(r.Revision, res.Revision)
				r.Refreshed = append(r.Refreshed, res.ID)
				if res.Created {
					l.Log.InfoContext(ctx, "definition published", "definition", res.ID, "version", res.Version, "file", s.request.File)
				}
				if len(res.Warnings) > 0 {
					l.Log.WarnContext(ctx, "definition may have mistakes", "file", s.request.File, "warnings", tell(res.Warnings))
				}
			case ctx.Err() != nil, !about(err):
				return r, err
			default:
				s.err = err
				left = append(left, s)
			}
		}
		todo = left
	}
	for _, s := range todo {
		l.bad(ctx, &r, s.request.File, s.err)
	}
	slices.Sort(r.Refreshed)
	return r, nil
}

// source is a file that could be read.
type source struct {
	request catalog.PublishRequest
	err     error // of the last try
}

// distinctIDs drops the files that cannot be read, and of several with one id
// all but the first: they would replace each other.
func (l *LocalReloader) distinctIDs(ctx context.Context, files []file, r *Result) []source {
	var out []source
	byID := map[string]string{}
	for _, f := range files {
		if f.err != nil {
			l.bad(ctx, r, f.name, f.err)
			continue
		}
		if declared.IsDeclaration(f.source, f.name) {
			l.Log.InfoContext(ctx, "file declares an activity type, and is no definition: --activities names the directory of such files", "file", f.name)
			continue
		}
		req := catalog.PublishRequest{Source: f.source, File: f.name, Publish: true, OnlyNew: true}
		id := l.Catalog.Identify(req)
		if first, taken := byID[id]; taken {
			l.bad(ctx, r, f.name, fmt.Errorf("it defines %s, as %s does; give it another id", id, first))
			continue
		}
		if id != "" {
			byID[id] = f.name
		}
		out = append(out, source{request: req})
	}
	return out
}

func (l *LocalReloader) bad(ctx context.Context, r *Result, name string, err error) {
	text := reason(err)
	r.not(name, text)
	l.Log.WarnContext(ctx, "definition not loaded", "file", name, "reason", text)
}
