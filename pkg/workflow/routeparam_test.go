package workflow

import (
	"maps"
	"strings"
	"testing"
)

func TestRouteParameters(t *testing.T) {
	t.Parallel()
	const guid = "01a205a2-a695-74fa-a837-39bd91905a94"
	for _, c := range []struct {
		limits   string
		yes, not []string
	}{
		{"", []string{"x", "5"}, nil},
		{":int", []string{"0", "-5", "+7", "2147483647", "-2147483648"}, []string{"", "x", "1.5", "2147483648", "1e3", "0x1", "99999999999999999999", "1_0", "١"}},
		{":long", []string{"9223372036854775807", "-1"}, []string{"9223372036854775808", "", "a"}},
		{":bool", []string{"true", "False"}, []string{"1", "yes", ""}},
		{":guid", []string{guid, strings.ToUpper(guid), "{" + guid + "}", "(" + guid + ")", strings.ReplaceAll(guid, "-", "")}, []string{guid + "0", "{" + guid, guid[1:], "g" + guid[1:], "", guid + "\n"}},
		{":alpha", []string{"aZ"}, []string{"a1", "ä", "a-b", "a\n"}},
		{":required", []string{"x"}, []string{""}},
		{":min(3)", []string{"3", "400"}, []string{"2", "x", ""}},
		{":max(-3)", []string{"-3", "-4"}, []string{"-2", "x"}},
		{":range(1,5)", []string{"1", "5"}, []string{"0", "6", "x"}},
		{":length(2)", []string{"ab", "ää"}, []string{"a", "abc"}},
		{":length(2,3)", []string{"ab", "abc"}, []string{"a", "abcd"}},
		{":minlength(2)", []string{"ab", "abc"}, []string{"a", ""}},
		{":maxlength(2)", []string{"ab", "a"}, []string{"abc"}},
		{":Alpha:LENGTH(2)", []string{"ab"}, []string{"a1", "abc"}},
		{":int:min(10):max(20)", []string{"10", "20"}, []string{"9", "21", "x"}},
	} {
		for _, name := range []string{"id", "*id", "**id"} {
			template := "a/{" + name + c.limits + "}"
			for _, value := range c.yes {
				if got, ok := RouteData(template, "a/"+value); !ok || got["id"] != value || len(got) != 1 {
					t.Errorf("%s refuses %q or has other values: %v", template, value, got)
				}
			}
			for _, value := range c.not {
				if got, ok := RouteData(template, "a/"+value); ok {
					t.Errorf("%s takes %q: %v", template, value, got)
				}
			}
		}
	}
	if got, ok := RouteData("{n:int}/{*rest:maxlength(3)}", "5/b/c"); !ok || got["rest"] != "b/c" || got["n"] != "5" {
		t.Errorf("%v %t", got, ok)
	}
	if got, ok := RouteData("a/{n}", "a"); ok {
		t.Errorf("a path without its parameter has %v", got)
	}
}

func TestBadRouteParameters(t *testing.T) {
	t.Parallel()
	for _, segment := range []string{"id", "{id", "{}", "{*}", "{***id}", "{:int}", "{id?}", "{id:int?}", "{id=5}", "{id:}", "{id:int:}", "{id:Int32}", "{id:int(5)}", "{id:min}", "{id:min()}", "{id:min(x)}",
		"{id:min(1", "{id:min1)}", "{id:range(1)}", "{id:range(1,2,3)}", "{id:length()}", "{id:regex(^a$)}", "{id:decimal}", "{i{d}", "{id:min(99999999999999999999)}"} {
		if p, err := ParseRouteParameter(segment); err == nil || !strings.Contains(err.Error(), segment) {
			t.Errorf("%s: %+v, %v", segment, p, err)
		}
	}
}

func TestTheParametersOfARest(t *testing.T) {
	t.Parallel()
	for _, template := range []string{"files/{kind}/{*path}", "/files/{kind}/{**path}/"} {
		if got, ok := RouteData(template, "/files/a/b/c/"); !ok || !maps.Equal(got, map[string]any{"kind": "a", "path": "b/c"}) {
			t.Errorf("%s: %v", template, got)
		}
	}
}
