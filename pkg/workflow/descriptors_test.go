package workflow

import (
	"testing"
)

func TestDescriptorsAreFoundByBothNames(t *testing.T) {
	t.Parallel()
	ds := Descriptors{{Type: "acme.Ship"}, {Type: "Elsa.WriteLine"}}
	if ds.ByType("Elsa.WriteLine") == nil || ds.ByShortName("writeLine") == nil || ds.ByShortName("acme.Ship") == nil || ds.ByType("x") != nil || ds.ByShortName("x") != nil {
		t.Error("not found, or too much found")
	}
	if all := ds.All(); len(all) != 2 || all[0].Type != "Elsa.WriteLine" {
		t.Error(all)
	}
}
