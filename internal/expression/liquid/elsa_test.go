package liquid

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
)

// What Elsa's Liquid has beside Liquid's own.
func TestElsasFilters(t *testing.T) {
	t.Parallel()
	scope := &expressiontest.Scope{Vars: map[string]any{"o": map[string]any{"b": int64(1), "a": "ü"}, "l": []any{int64(1), "x"}, "none": nil}}
	for _, c := range []struct{ source, want, says string }{
		{source: "{{ WorkflowDefinitionVersionId }}", want: "definition-1:7"},
		{source: "{{ 'ü' | base64 }} {{ variables.l | base64 }} {{ variables.o | base64 }} {{ 5 | base64 }}[{{ variables.none | base64 }}]", want: "w7w= WzEsIngiXQ== eyJhIjoiw7wiLCJiIjoxfQ== NQ==[]"},
		{source: "{{ variables.o | keys | join: ',' }}", want: "a,b"},
		{source: "{{ variables.l | keys }}", says: "keys are those of an object"},
		{source: "{{ ' Zwei Wörter & 1! ' | handle }} {{ '---' | handleize }}", want: "zwei-wörter-1 "},
		{source: "{{ 'abc' | md5 }}", want: "900150983cd24fb0d6963f7d28e17f72"},
		{source: "{{ 'abc' | sha1 }}", want: "a9993e364706816aba3e25717850c26c9cd0d89d"},
		{source: "{{ 'abc' | sha256 }}", want: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{source: "{{ 'The quick brown fox jumps over the lazy dog' | hmac_sha1: 'key' }}", want: "de7c9b85b8b78aa6bc8a7a36f70a90701c9db4d9"},
		{source: "{{ 'The quick brown fox jumps over the lazy dog' | hmac_sha256: 'key' }}", want: "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8"},
		{source: "{{ 'a' | hmac_sha256 }}", says: "one value"},
		{source: "{{ '<a>' | raw }}", want: "<a>"},
		{source: "{{ '{1} of {0}, {0}' | format_string: 5, 'x' }}", want: "x of 5, 5"},
		{source: "{{ 'no places' | format_string }}", want: "no places"},
		{source: "{{ '{0} {2}' | format_string: 1, 2 }}", says: "{2}"},
		{source: "{{ '{0}' | format_string }}", says: "it is given none"},
		{source: "{{ '{0:N2}' | format_string: 1 }}", says: "{0:N2}"},
		{source: "{{ 'a } b' | format_string: 1 }}", says: "none of the places"},
	} {
		got, err := expressiontest.Eval(t.Context(), Evaluator{}, c.source, scope)
		if c.says == "" && (err != nil || got != c.want) || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %q, %v", c.source, got, err)
		}
	}
}
