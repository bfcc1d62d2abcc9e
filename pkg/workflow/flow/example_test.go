package flow_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow/flow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

type request struct {
	Who  flow.Value[string] `required:"true"`
	Days flow.Value[int]
}

type decision struct{ By flow.Value[string] }

// A workflow in Go is the same definition that YAML would be.
func Example() {
	leave := flow.New("leave", func(s *flow.Steps, in request) decision {
		s.If(flow.More(in.Days, flow.Of(5)), func(s *flow.Steps) {
			flow.Wait[decision](s, "decided", flow.ID("answer"), flow.Timeout(48*time.Hour, func(s *flow.Steps) { s.Finish() }))
		})
		s.WriteLine(flow.Text("{} may go", in.Who))
		return decision{By: flow.Expr[string](`outputs("answer")?.by`)}
	})
	src, err := yaml.Write(leave.Definition(), activities.Default())
	fmt.Println(errors.Join(leave.Check().Err(), err))
	fmt.Print(string(src))
	// Output:
	// <nil>
	// id: leave
	// inputs:
	//   days: integer
	//   who: {type: string, required: true}
	// outputs:
	//   by: {type: string, value: '${{ outputs("answer")?.by }}'}
	// root:
	//   - if: ${{ inputs.days > 5 }}
	//     then:
	//       - event: decided
	//         id: answer
	//         timeout: 48h
	//         onTimeout:
	//           - finish:
	//             id: finish1
	//   - writeLine: ${{ inputs.who }} may go
}
