package yaml_test

import (
	"testing"

	"github.com/weft-run/weft/pkg/workflow/yaml"
)

func TestADocumentMaySayItsVersion(t *testing.T) {
	t.Parallel()
	const rest = "---\nid: x\nroot:\n  - writeLine: \"%YAML 1.2\"\n"
	for _, head := range []string{"", "%YAML 1.2\n", "%YAML 1.1\n", "# order\n\n%YAML  1.2\n", "\uFEFF%YAML 1.2\n", "%YAML 1.2\r\n", "%YAML 1.2 # of 2009\n"} {
		def, problems := yaml.Read([]byte(head+rest), "", testTypes(t))
		if err := problems.Err(); err != nil {
			t.Errorf("%q: %v", head, err)
			continue
		}
		if got := def.Root.Activities[0].Inputs["text"].Value; got != "%YAML 1.2" {
			t.Errorf("%q: the line is %v", head, got)
		}
	}
	for _, head := range []string{"%YAML 2.0\n", "%YAML 1.3\n"} {
		if _, problems := yaml.Read([]byte(head+rest), "", testTypes(t)); problems.Err() == nil {
			t.Errorf("%q is read", head)
		}
	}
}
