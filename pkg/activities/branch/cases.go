package branch

import (
	"github.com/weft-run/weft/pkg/engine"
)

// The modes of Switch and FlowSwitch.
const (
	MatchFirst = "MatchFirst"
	MatchAny   = "MatchAny"
)

// MatchingCases evaluates the conditions in order, as far as the mode needs.
func MatchingCases(x *engine.Execution) ([]*engine.NodeCase, error) {
	var out []*engine.NodeCase
	cases := x.Node().Cases()
	for i := range cases {
		ok, err := x.Condition(&cases[i])
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, &cases[i])
			if x.Text("mode") == MatchFirst {
				break
			}
		}
	}
	return out, nil
}
