package remote_test

import "testing"

// A text is what was typed, whatever it looks like; what is no text is what it says; and nothing is given twice.
func TestATextIsWhatWasTyped(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.wants(0, "*", "apply", u.file("typed.yaml", "id: typed\ninputs: {s: string, n: number, a: any, l: 'string[]'}\noutputs:\n  s: ${{ inputs.s }}\n  n: ${{ inputs.n }}\n  a: ${{ inputs.a }}\n  l: ${{ inputs.l }}\nroot: [{writeLine: x}]\n"))
	for _, c := range []struct{ input, jq, want string }{
		{"s=1.10", ".output.s", "1.10"},
		{"s=5e10", ".output.s", "5e10"},
		{"s=  5 ", ".output.s", "  5 "},
		{"s=null", ".output.s", "null"},
		{"s=true", ".output.s", "true"},
		{"s=0017", ".output.s", "0017"},
		{"s=12345678901234567890", ".output.s", "12345678901234567890"},
		{`s="5"`, ".output.s", "5"},
		{"s=plain", ".output.s", "plain"},
		{"n=1.10", ".output.n", "1.1"},
		{"a=1.10", ".output.a", "1.1"},
		{`l=["1.10"]`, ".output.l[0]", "1.10"},
	} {
		u.wants(0, c.want+"\n", "run", "typed", "-i", c.input, "--jq", c.jq)
	}
	u.refuses(2, `-i l is given 2 times: a list is written as JSON, -i 'l=["a", "b"]'`, "run", "typed", "-i", "l=a", "-i", "l=b")
}
