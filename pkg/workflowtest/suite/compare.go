package suite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/elsastate"
	"github.com/weft-run/weft/pkg/activities/declared"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflowtest/compare"
	"github.com/weft-run/weft/pkg/workflowtest/trial"
)

// maxRecord is how large an export of an instance with its logs may be.
const maxRecord = elsastate.MaxFile

// differences are where a run is not as the case was recorded.
func (c *testCase) differences(run *trial.Run) []Failure {
	if c.recorded == "" {
		return nil
	}
	src, err := trial.ReadLimited(c.recorded, maxRecord)
	var rec *elsastate.Record
	if err == nil {
		rec, err = elsastate.ReadRecord(src)
	}
	if err != nil {
		return []Failure{{Line: c.recordedLine, Field: "recorded", Message: fmt.Sprintf("%s: %v", c.recorded, err)}}
	}
	base := filepath.Base(c.recorded)
	was := compare.Seen{Status: rec.SubStatus, Output: rec.Output, Incidents: rec.Incidents, Completed: rec.Completed}
	for _, l := range rec.Lines {
		was.Lines = append(was.Lines, compare.SeenLine{Text: l.Text, Known: l.Kept, Place: fmt.Sprintf("activity %s, %s %s", l.Activity, base, l.At)})
	}
	seen := run.Seen()
	return failures(seen.Differences(&was, "in Elsa"), c.recordedLine)
}

func failures(found []compare.Mismatch, line int) (out []Failure) {
	for _, m := range found {
		out = append(out, Failure{Line: line, Field: m.Field, Message: m.Detail})
	}
	return out
}

// side are definitions that cases are run on too.
type side struct {
	files map[string]string // by the ids of the definitions
	types *engine.Registry
}

// sideOf reads definitions, and those in directories; nil if there are none.
func sideOf(paths []string, types *engine.Registry) (*side, error) {
	if len(paths) == 0 {
		return nil, nil //nolint:nilnil // no files are no side
	}
	s := &side{files: map[string]string{}, types: types}
	files, err := definitionsIn(paths)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		def, err := trial.ReadDefinition(file, types)
		if err != nil {
			return nil, err
		}
		if other := s.files[def.ID]; other != "" {
			return nil, fmt.Errorf("%s and %s are both %s: give one of them", other, file, def.ID)
		}
		s.files[def.ID] = file
	}
	return s, nil
}

// definitionsIn are files as they are given, and the YAML and Elsa's JSON of directories that is no test.
func definitionsIn(paths []string) (files []string, err error) {
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, p)
			continue
		}
		err = filepath.WalkDir(p, func(name string, d fs.DirEntry, err error) error {
			ext := strings.ToLower(filepath.Ext(name))
			switch {
			case err != nil || d.IsDir() || isTest(name):
			case ext == ".yaml", ext == ".yml":
				src, err := trial.ReadLimited(name, maxRecord)
				if err != nil {
					return err
				}
				if !declared.IsDeclaration(src, name) {
					files = append(files, name)
				}
			case ext == ".json":
				src, err := trial.ReadLimited(name, maxRecord)
				if err != nil {
					return err
				}
				var top struct{ Root, Model json.RawMessage }
				if json.Unmarshal(bytes.TrimPrefix(src, []byte("\ufeff")), &top) == nil && (top.Root != nil || top.Model != nil) {
					files = append(files, name)
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// differences runs a case on the definitions of s, and says where the run was another one there.
func (s *side) differences(c *testCase, run *trial.Run) []Failure {
	if s == nil {
		return nil
	}
	fail := func(format string, args ...any) []Failure {
		return []Failure{{Line: c.line, Field: "against", Message: fmt.Sprintf(format, args...)}}
	}
	other := *c
	other.recorded, other.expect = "", &expectation{line: c.line}
	replaced := false
	place := func(file *string) error {
		def, err := trial.ReadDefinition(*file, s.types)
		if err != nil {
			return err
		}
		if to := s.files[def.ID]; to != "" {
			*file, replaced = to, true
		}
		return nil
	}
	other.cfg.OtherFiles = slices.Clone(c.cfg.OtherFiles)
	err := place(&other.cfg.File)
	for i := range other.cfg.OtherFiles {
		err = cmp.Or(err, place(&other.cfg.OtherFiles[i]))
	}
	switch {
	case err != nil:
		return fail("%v", err)
	case !replaced:
		return fail("none of the definitions has the id of one that the case runs, %s: it was not compared", c.cfg.File)
	}
	other.steps = slices.DeleteFunc(slices.Clone(c.steps), func(st step) bool { return st.expect != nil && st.at.IsZero() })
	for i := range other.steps {
		if other.steps[i].expect != nil { // its time passes
			other.steps[i].expect, other.steps[i].do = nil, func(*trial.Run) error { return nil }
		}
	}
	done := other.run()
	base := filepath.Base(other.cfg.File)
	if len(done.Failures) > 0 {
		var out []Failure
		for _, f := range done.Failures {
			out = append(out, Failure{Line: f.Line, Field: "against", Message: fmt.Sprintf("with %s: %s", base, f.Message)})
		}
		return out
	}
	seen, its := run.Seen(), done.run.Seen()
	return failures(seen.Differences(&its, "with "+base), c.line)
}
