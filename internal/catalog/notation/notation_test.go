package notation

import "testing"

func TestContentHash(t *testing.T) {
	t.Parallel()
	hash := func(n Notation, src string) string {
		h, err := ContentHash(n, []byte(src))
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		return h
	}
	for _, c := range []struct {
		name string
		n    Notation
		a, b string
		same bool
	}{
		{"format", YAML, "{a: 1, b: [x, y]}", "b:\n- x\n- \"y\"\na: 1.0 # why\n", true},
		{"an anchor is what it stands for", YAML, "a: &x {k: 1}\nb: *x", "a: {k: 1}\nb: {k: 1}", true},
		{"text is not a number", YAML, "a: 1", "a: \"1\"", false},
		{"order of a list", YAML, "a: [x, y]", "a: [y, x]", false},
		{"keys that are not text", YAML, "1: {true: x}", "\"1\": {\"true\": x}", true},
		{"key order and spaces", JSON, `{"a":1,"b":{"c":2,"d":3}}`, "\ufeff{ \"b\": {\"d\": 3.0, \"c\": 2e0},\n\"a\": 1}", true},
		{"a save request is its model", JSON, `{"definitionId":"x","root":{"type":"a"}}`, `{"model":{"root":{"type":"a"},"definitionId":"y"},"publish":true}`, true},
		{"what an export changes", JSON, `{"root":1,"version":1,"createdAt":"x","id":"v1","isLatest":true}`, `{"root":1,"version":2,"toolVersion":"3","IsLatest":false}`, true},
		{"the same names further inside count", JSON, `{"root":{"version":1}}`, `{"root":{"version":2}}`, false},
		{"large numbers", JSON, `{"a":9007199254740993}`, `{"a":9007199254740992}`, false},
		{"larger numbers", YAML, "a: 100000000000000000000000000001", "a: 100000000000000000000000000002", false},
		{"a merge is what it stands for", YAML, "a: &x {k: 1}\nb: {<<: *x}", "a: {k: 1}\nb: {k: 1}", true},
	} {
		if got := hash(c.n, c.a) == hash(c.n, c.b); got != c.same {
			t.Errorf("%s: equal is %v", c.name, got)
		}
	}
}

func TestNotationOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		contentType, file, src string
		want                   Notation
	}{
		{"application/yaml", "", "{}", YAML},
		{"Application/JSON; charset=utf-8", "x.yaml", "", JSON},
		{"application/problem+json", "", "", JSON},
		{"application/x-www-form-urlencoded", "", " {\"a\": 1}", JSON},
		{"application/x-www-form-urlencoded", "", "id: a", YAML},
		{"", "a.YML", "{}", YAML},
		{"", "a.json", "id: a", JSON},
		{"", "", "[]", JSON},
	} {
		if got := Of(c.contentType, c.file, []byte(c.src)); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
