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
		{source: "{{ '2026-01-31T08:05:09.12Z' | format_date: 'dd.MM.yyyy HH:mm' }}", want: "31.01.2026 08:05"},
		{source: "{{ 'now' | format_date: 'yyyy' | size }}", want: "4"},
		{source: "[{{ 'soon' | format_date: 'yyyy' }}{{ variables.none | format_date: 'yyyy' }}{{ variables.none | format_number: 'N2' }}]", want: "[]"},
		{source: "{{ '2026-07-01T12:00:00Z' | time_zone: 'Europe/Berlin' | format_date: 'o' }}", want: "2026-07-01T14:00:00.0000000+02:00"},
		{source: "{{ '2026-07-01T12:00:00+02:00' | format_date: 'u' }} {{ '2026-07-01T12:00:00+02:00' | format_date: 'R' }}", want: "2026-07-01 10:00:00Z Wed, 01 Jul 2026 10:00:00 GMT"},
		{source: "{{ '2026-07-01' | format_date: 'd' }} {{ '2026-07-01' | format_date: 'd', '' }} {{ '2026-07-01' | format_date: 'MMM d', 'en-US' }}", want: "07/01/2026 07/01/2026 Jul 1"},
		{source: "{{ '2026-07-01' | format_date: 'd', 'en-US' }}", says: "another text in en-US"},
		{source: "{{ '2026-07-01' | format_date: 'yyyy', 'de-DE' }}", says: "and not in de-DE"},
		{source: "{{ '2026-07-01' | format_date: 'x' }}", says: "times have no format x"},
		{source: "{{ '2026-07-01' | format_date: 'ffffffff' }}", says: "seven digits"},
		{source: "{{ '2026-07-01' | format_date }}", says: "1 to 2 values"},
		{source: "{{ 1234.5 | format_number: 'N2' }} {{ '1234.5' | format_number: 'N0' }} {{ 0.256 | format_number: 'P' }} {{ -3 | format_number: 'C' }}", want: "1,234.50 1,235 25.60 % (¤3.00)"},
		{source: "{{ 12 | format_number: '00000.0#' }} {{ 1234567 | format_number: '#,##0' }} {{ 0.05 | format_number: '0.0%' }} {{ -0.001 | format_number: 'F2' }}", want: "00012.0 1,234,567 5.0% 0.00"},
		{source: "{{ 5 | format_number: 'D3' }}", says: "numbers have C, F, G, N and P"},
		{source: "{{ 5 | format_number: 'C', 'en-US' }}", says: "another text in en-US"},
		{source: "{{ 100000000000000000000000000000 | format_number: 'N2' }}", says: "beyond a decimal"},
		{source: "{{ 'a } b' | format_string: 1 }}", says: "none of the places"},
	} {
		got, err := expressiontest.Eval(t.Context(), Evaluator{}, c.source, scope)
		if c.says == "" && (err != nil || got != c.want) || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %q, %v", c.source, got, err)
		}
	}
}
