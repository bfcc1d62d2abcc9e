package here

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/internal/people/command/typesflag"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/apiclient"
	"github.com/weft-run/weft/pkg/workflow"
)

func (a commands) activitiesCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: "activities [TYPE]", Aliases: []string{"activity"}, Args: cobra.MaximumNArgs(1),
		Short: "The activities, or one with its inputs, outputs, outcomes and an example: the built-in ones, or those of --server",
		Long: "The activities, or one with its inputs, outputs, outcomes and an example. Without --server and --context nothing is asked: they are the\n" +
			"built-in ones. With one of them they are those of that node's program, with the definitions that use each.",
		ValidArgsFunction: func(_ *cobra.Command, _ []string, typed string) (names []string, _ cobra.ShellCompDirective) {
			for _, d := range activities.Default().All() {
				if strings.HasPrefix(d.ShortName(), typed) {
					names = append(names, d.ShortName())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			all, asked, err := a.activities(cmd.Context(), dir)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				raw, err := json.Marshal(all)
				if err != nil {
					return err
				}
				return a.ask.Show(ask.View{Name: "activities/name", Columns: []ask.Column{
					{Head: "ACTIVITY", Path: "name"}, {Head: "TYPE", Path: "type", Wide: true}, {Head: "USED BY", Path: "users", Wide: true}, {Head: "WHAT IT DOES", Path: "description"},
				}}, raw)
			}
			name := ask.IDs("activities", args)[0]
			var names []string
			for i := range all.Items {
				if v := &all.Items[i]; strings.EqualFold(v.Name, name) || strings.EqualFold(v.Type, name) {
					return a.activity(v, asked)
				}
				names = append(names, all.Items[i].Name, all.Items[i].Type)
			}
			where := "weft activities lists them"
			if !asked {
				where += ", and with --server those of a node"
			}
			return ask.Usage("there is no activity %q%s; %s", name, workflow.DidYouMean(name, names), where)
		},
	}
	typesflag.Add(cmd.Flags(), &dir)
	return cmd
}

// activities are those of the server that a flag names, or the built-in ones.
func (a commands) activities(ctx context.Context, dir string) (all *apiclient.Activities, asked bool, err error) {
	if !a.ask.Named() {
		types, err := typesflag.Types(dir)
		if err != nil {
			return nil, false, err
		}
		all = &apiclient.Activities{}
		for _, d := range types.All() {
			all.Items = append(all.Items, described(d))
		}
		return all, false, nil
	}
	c, err := a.ask.Client()
	if err != nil {
		return nil, true, err
	}
	answer, err := c.ListActivities(ctx)
	if err != nil {
		return nil, true, err
	}
	return &answer.Body, true, nil
}

// described is a descriptor as the API tells it.
func described(d *workflow.Descriptor) apiclient.Activity {
	values := func(of []workflow.OutputDescriptor) []apiclient.ActivityValue {
		out := []apiclient.ActivityValue{}
		for _, o := range of {
			out = append(out, apiclient.ActivityValue{Name: o.Name, Type: o.Type, Description: o.Description})
		}
		return out
	}
	v := apiclient.Activity{
		Name: d.ShortName(), Type: d.Type, Description: d.Description, Main: d.Main, Inputs: []apiclient.ActivityInput{}, Outputs: values(d.Outputs), Variables: values(d.Gives),
		Branches: append([]string{}, d.Ports...), Outcomes: append([]string{}, d.Outcomes...), AnyOutcome: d.AnyOutcome, Trigger: d.Trigger, Effect: !d.NoEffect, Example: d.Example, UsedBy: []string{},
	}
	if len(v.Outcomes) == 0 && !v.AnyOutcome {
		v.Outcomes = []string{"Done"}
	}
	for _, in := range d.Inputs {
		v.Inputs = append(v.Inputs, apiclient.ActivityInput{
			Name: in.Name, Type: in.Type, Description: in.Description, Required: in.Required, Default: in.Default, Options: append([]string{}, in.Options...), Sensitive: in.Sensitive,
		})
	}
	return v
}

// activity shows one.
func (a commands) activity(v *apiclient.Activity, asked bool) error {
	if !a.ask.ForPeople() {
		raw, err := json.Marshal(v)
		if err != nil {
			return err
		}
		return a.ask.Show(ask.View{Name: "activities/name", Columns: []ask.Column{{Head: "ACTIVITY", Path: "name"}}}, raw)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  (%s)\n%s\n", v.Name, v.Type, v.Description)
	writeInputs(&b, v)
	writeValues(&b, "OUTPUTS", v.Type, v.Outputs)
	writeValues(&b, "VARIABLES OF ITS BRANCHES", v.Type, v.Variables)
	if len(v.Branches) > 0 {
		fmt.Fprintf(&b, "\nBRANCHES  %s\n", strings.Join(v.Branches, ", "))
	}
	outcomes := strings.Join(v.Outcomes, ", ")
	if v.AnyOutcome {
		outcomes = "any"
	}
	fmt.Fprintf(&b, "\nOUTCOMES  %s\n", outcomes)
	if v.Example != "" {
		fmt.Fprintf(&b, "\nEXAMPLE\n  %s\n", strings.ReplaceAll(strings.TrimRight(v.Example, "\n"), "\n", "\n  "))
	}
	if asked {
		fmt.Fprintf(&b, "\nUSED BY  %d definitions", v.Users)
		if len(v.UsedBy) > 0 {
			fmt.Fprintf(&b, ", such as %s", strings.Join(v.UsedBy[:min(5, len(v.UsedBy))], ", "))
		}
		b.WriteByte('\n')
	}
	_, err := fmt.Fprint(a.ask.Out, ask.Printable(b.String()))
	return err
}

func writeInputs(b *strings.Builder, v *apiclient.Activity) {
	if len(v.Inputs) > 0 {
		b.WriteString("\nINPUTS\n")
	}
	for _, in := range v.Inputs {
		about := in.Type
		if in.Required {
			about += ", required"
		}
		if in.Name == v.Main {
			about += ", main"
		}
		if in.Default != nil {
			about += fmt.Sprintf(", default %v", in.Default)
		}
		if len(in.Options) > 0 {
			about += ", one of " + strings.Join(in.Options, ", ")
		}
		fmt.Fprintf(b, "  %s  (%s)\n      %s\n", in.Name, about, in.Description)
	}
}

// writeValues tells of built-in outputs also what they have, which the API does not say.
func writeValues(b *strings.Builder, head, typ string, values []apiclient.ActivityValue) {
	if len(values) > 0 {
		b.WriteString("\n" + head + "\n")
	}
	fields := map[string][]string{}
	if d := activities.Default().ByType(typ); d != nil {
		for _, o := range d.Outputs {
			fields[o.Name] = o.Fields
		}
	}
	for _, out := range values {
		more := ""
		if has := fields[out.Name]; len(has) > 0 {
			more = " It has " + strings.Join(has, ", ") + "."
		}
		fmt.Fprintf(b, "  %s  (%s)\n      %s%s\n", out.Name, out.Type, out.Description, more)
	}
}
