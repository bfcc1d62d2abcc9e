package yaml_test

import (
	"testing"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// FuzzRead: nothing panics, and what reads also writes and reads again as the
// same, in both notations.
func FuzzRead(f *testing.F) {
	f.Add([]byte(orderApproval))
	f.Add([]byte(greeting))
	for _, c := range goodRoots {
		f.Add([]byte("id: x\n" + c.src))
	}
	for _, c := range badInputs {
		f.Add([]byte(c.src))
	}
	for _, found := range []string{ // by fuzzing, once
		"root:\n  : - A0000\n  A:", "root:\n A: \n  A: 00", "root:\n    A:\n    workflow: {}",
	} {
		f.Add([]byte(found))
	}
	types := testTypes(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		def, problems := yaml.Read(src, "fuzz.yaml", types)
		for _, p := range problems {
			if p.Code == "" || p.Detail == "" || p.Place.File == "" {
				t.Fatalf("a problem without code, detail or place: %+v", p)
			}
		}
		if len(problems) > 0 {
			return
		}
		out, err := yaml.Write(def, types)
		if err != nil {
			t.Fatal(err)
		}
		asJSON, err := elsajson.Write(def, types)
		if err != nil {
			t.Fatal(err)
		}
		if len(out) > workflow.MaxSource || len(asJSON) > workflow.MaxSource {
			return // indents may pass the limit
		}
		back, problems := yaml.Read(out, "fuzz.yaml", types)
		if len(problems) > 0 {
			t.Fatalf("%v\n%s", problems, out)
		}
		if d := diff(def, back); d != "" {
			t.Fatalf("%s\n%s", d, out)
		}
		fromJSON, problems := elsajson.Read(asJSON, "fuzz.json", types)
		if len(problems) > 0 {
			t.Fatalf("%v\n%s", problems, asJSON)
		}
		again, err := elsajson.Write(fromJSON, types)
		if err != nil || string(again) != string(asJSON) {
			t.Fatalf("JSON written twice differs (%v):\n%s\n%s", err, asJSON, again)
		}
	})
}
