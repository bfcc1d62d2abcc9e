package workflow

import (
	"fmt"
	"strings"
	"testing"
)

func TestLabels(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"customer": true, "a": true, "9": true, "Cost-Centre_1.b": true, strings.Repeat("x", MaxLabelName): true,
		"": false, strings.Repeat("x", MaxLabelName+1): false, "-a": false, ".": false, "..": false, "_": false, "a/b": false, "a:b": false, "a b": false, "ä": false, "a~b": false, "a\x00": false,
	} {
		if err := CheckLabelName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
	for value, ok := range map[string]bool{"": true, "acme & sons / ~": true, strings.Repeat("x", MaxNameLength): true, strings.Repeat("x", MaxNameLength+1): false, "\xff": false} {
		if err := CheckLabel("customer", value); (err == nil) != ok {
			t.Errorf("%.20q: %v", value, err)
		}
	}
	all := map[string]string{}
	for i := range MaxLabels {
		all[fmt.Sprint("l", i)] = "x"
	}
	if err := CheckLabels(all); err != nil {
		t.Error(err)
	}
	all["more"] = "x"
	for what, labels := range map[string]map[string]string{"too many": all, "empty": {"a": ""}, "name": {"a/b": "x"}, "value": {"a": "\xff"}} {
		if CheckLabels(labels) == nil {
			t.Errorf("%s: taken", what)
		}
	}
}
