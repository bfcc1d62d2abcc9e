// Package flow builds workflow definitions in Go, with Go's types: inputs, outputs and
// results are fields of structs, so that a name which does not exist, or a text where a
// number belongs, is an error of the compiler.
//
//	type Order struct {
//		ID     flow.Value[string]  `required:"true"`
//		Amount flow.Value[float64]
//	}
//
//	var Ship = flow.NewActivity("acme.Ship", ship) // func(ctx, x, in Parcel) (Label, error)
//
//	var Orders = flow.New("order", func(s *flow.Steps, in Order) Label {
//		s.If(flow.More(in.Amount, flow.Of(1000.0)), func(s *flow.Steps) {
//			flow.Wait[Approval](s, "approved", flow.Timeout(48*time.Hour, func(s *flow.Steps) { s.Fault(flow.Of("too late")) }))
//		})
//		return Ship.Do(s, Parcel{Order: in.ID})
//	})
//
// The function runs once, in [New], and writes the definition down: what it gets and
// gives are not values but where they will stand ([Value]). A Go if decides what is
// written; [Steps.If] decides as the workflow runs. The definition is plain data: it can
// be published, drawn and exported like one that was written in YAML, and is run by
// programs of other versions. Code belongs into an [Activity].
//
// Guaranteed: what [Workflow.Check] finds nothing in compiles on any node with the same
// activities; equal code gives equal definitions. Problems have the file and line of the
// Go code. Not guaranteed: that a file of another Go version of a struct reads instances
// of before; the names of fields are part of the definition.
//
// Concurrency: build in one goroutine. A [Workflow] and an [Activity] are not changed
// after that, and are safe for concurrent use.
package flow
