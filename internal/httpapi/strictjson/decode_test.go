package strictjson

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// order is a body that has one of each.
type order struct {
	Input   map[string]any `json:"input"`
	Name    string         `json:"name"`
	Version int            `json:"version"`
	Before  *time.Time     `json:"before"`
	Changes []change       `json:"changes"`
}

type change struct {
	Type  string     `json:"type"`
	DueAt *time.Time `json:"dueAt"`
}

func TestDecodeStrictSaysEverythingThatIsWrong(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`[`, maxDepth+1) + strings.Repeat(`]`, maxDepth+1)
	tests := []struct {
		name, body string
		want       []string // code and pointer, or code and line:column
	}{
		{"nothing wrong", `{"input": {"a": [1, {"b": null}]}, "name": "n", "version": 2}`, nil},
		{"null is not given", `{"input": null, "name": null}`, nil},
		{"unknown fields, all of them", `{"nmae": 1, "versoin": 2, "name": "x"}`, []string{"unknown-field /nmae", "unknown-field /versoin"}},
		{"names are compared exactly", `{"Name": "x"}`, []string{"unknown-field /Name"}},
		{"a name with a slash in its pointer", `{"a/b": 1}`, []string{"unknown-field /a~1b"}},
		{"wrong types, all of them", `{"name": 1, "version": "2", "input": []}`, []string{"wrong-type /input", "wrong-type /name", "wrong-type /version"}},
		{"a fraction as a version", `{"version": 1.5}`, []string{"wrong-type /version"}},
		{"not an object", `[1]`, []string{"wrong-type "}},
		{"null", `null`, []string{"wrong-type "}},
		{"not JSON", `{"name": nope}`, []string{"malformed-json 1:11"}},
		{"ends too early", "{\n  \"name\": \"x\"", []string{"malformed-json 2:13"}},
		{"text after the object", `{} {}`, []string{"malformed-json 1:4"}},
		{"a field twice", `{"name": "a", "name": "b"}`, []string{"duplicate-field 1:15"}},
		{"a field twice, deeper", `{"input": {"x": {"y": 1, "y": 2}}}`, []string{"duplicate-field 1:26"}},
		{"the same name in two objects", `{"input": {"x": {"y": 1}, "z": {"y": 2}}}`, nil},
		{"too deep", `{"input": {"x": ` + deep + `}}`, []string{"too-deep 1:215"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range Decode([]byte(tt.body), &order{}) {
				at := p.Place.Pointer
				if p.Place.Line > 0 {
					at = placeText(p.Place.Line, p.Place.Column)
				}
				got = append(got, p.Code+" "+at)
				if p.Detail == "" {
					t.Errorf("%s has no detail", p.Code)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeStrictKeepsNumbers(t *testing.T) {
	t.Parallel()
	var b order
	body := `{"input": {"whole": 9007199254740993, "fraction": 1.5, "large": 1e30, "list": [1, 2.0], "huge": 1e999, "id": 18446744073709551615}}`
	if problems := Decode([]byte(body), &b); problems != nil {
		t.Fatal(problems)
	}
	want := map[string]any{
		"whole": int64(9007199254740993), "fraction": 1.5, "large": 1e30, "list": []any{int64(1), int64(2)}, "huge": json.Number("1e999"), "id": json.Number("18446744073709551615"),
	}
	if diff := cmp.Diff(want, b.Input); diff != "" {
		t.Errorf("input (-want +got):\n%s", diff)
	}
}

func FuzzDecodeStrict(f *testing.F) {
	for _, seed := range []string{`{}`, `{"input":{"a":[1,{"b":"c"}]}}`, `{"a":{"a":[]},"a":1}`, `[`, `{"x"`, `"`, `{"a":}`, "\xff", `{"":{"":""}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, p := range Decode(body, &order{}) {
			if p.Code == "" || p.Detail == "" {
				t.Errorf("a problem without code or detail: %+v", p)
			}
		}
	})
}

func placeText(line, column int) string {
	return strings.Join([]string{strconv.Itoa(line), strconv.Itoa(column)}, ":")
}

// A time that is none is said so in words of people, not of the parser.
func TestATimeThatIsNone(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"before": "2h"}`, `{"before": 7}`, `{"before": "2026-11-22 10:00"}`, `{"before": {}}`} {
		problems := Decode([]byte(body), &order{})
		if len(problems) != 1 || problems[0].Place.Pointer != "/before" || problems[0].Detail != "before: it must be a time with its zone, such as 2026-11-22T10:00:00Z" {
			t.Errorf("%s: %v", body, problems)
		}
	}
	b := order{}
	problems := Decode([]byte(`{"changes": [{"type": "reschedule", "dueAt": "tomorrow"}]}`), &b)
	if len(problems) != 1 || problems[0].Place.Pointer != "/changes/0/dueAt" || strings.Contains(problems[0].Detail, "parsing") {
		t.Errorf("%v", problems)
	}
}

func TestAnObjectWithoutFieldsSaysSo(t *testing.T) {
	t.Parallel()
	var none struct{}
	p := Decode([]byte(`{"reason": "x"}`), &none)
	if len(p) != 1 || p[0].Detail != `there is no field "reason" here; none is taken` {
		t.Errorf("%+v", p)
	}
}
