package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/apiclient"
	"github.com/weft-run/weft/pkg/workflow"
	weftyaml "github.com/weft-run/weft/pkg/workflow/yaml"
)

func (a *app) hereCommands() []*cobra.Command {
	return []*cobra.Command{a.loginCommand(), a.logoutCommand(), a.contextCommand(), a.whoamiCommand(), a.doctorCommand(), a.versionCommand(), a.activitiesCommand(), a.schemaCommand()}
}

func encoded(v any) ([]byte, error) { return json.Marshal(v) }

// decodeStrict refuses fields that are not known: a typo is no wish.
func decodeStrict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errors.New("there is more behind its end")
	}
	return nil
}

func (a *app) loginCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "login", Short: "Keep a server and its token as a context, after trying them", Args: cobra.NoArgs,
		Long: "Keep a server and its token as a context, after trying them. The token comes from --token-file (- is standard\n" +
			"input) or WEFT_TOKEN; without one the server must ask for none. Contexts are kept in a file that only you can read.",
		Example: "  weft login --server https://weft.example --token-file key\n  weft login --server http://127.0.0.1:8080 --name local",
		RunE: func(cmd *cobra.Command, _ []string) error {
			at := place{Server: cmp.Or(a.server, a.environ["WEFT_SERVER"]), CACert: cmp.Or(a.caCert, a.environ["WEFT_CACERT"])}
			if at.Server == "" {
				return usage("say with --server where to sign in")
			}
			if a.tokenFile == "-" {
				raw, err := readMost(a.in, "standard input", 64<<10, "a token")
				if err != nil {
					return err
				}
				a.token = strings.TrimSpace(string(raw))
				a.server = at.Server
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			at.Token = a.token
			if _, err := c.ListNodes(cmd.Context()); err != nil {
				return err
			}
			all, err := a.readContexts()
			if err != nil {
				return err
			}
			u, _ := url.Parse(at.Server)
			name := cmp.Or(name, a.context, u.Host)
			all.Contexts[name], all.Current = at, name
			if err := a.writeContexts(all); err != nil {
				return err
			}
			return a.done(nil, false, "signed in at "+at.Server, "%s", name)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the context (default: the server's host)")
	return cmd
}

func (a *app) logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logout [CONTEXT]", Short: "Forget the token of a context", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := a.readContexts()
			if err != nil {
				return err
			}
			name := cmp.Or(append(args, "")[0], a.context, a.environ["WEFT_CONTEXT"], all.Current)
			at, ok := all.Contexts[name]
			if !ok {
				return usage("there is no context %q; %s", name, known(all))
			}
			at.Token = ""
			all.Contexts[name] = at
			if err := a.writeContexts(all); err != nil {
				return err
			}
			return a.done(nil, false, "signed out", "%s", name)
		},
	}
}

func (a *app) contextCommand() *cobra.Command {
	parent := &cobra.Command{Use: "context", Aliases: []string{"contexts"}, Short: "The clusters that you work with"}
	list := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List contexts", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all, err := a.readContexts()
			if err != nil {
				return err
			}
			current := cmp.Or(a.context, a.environ["WEFT_CONTEXT"], all.Current)
			var rows []any
			for _, name := range slices.Sorted(maps.Keys(all.Contexts)) {
				at := all.Contexts[name]
				rows = append(rows, map[string]any{"name": name, "server": at.Server, "token": at.Token != "", "current": name == current})
			}
			if a.asData() {
				return a.data(map[string]any{"items": rows})
			}
			return a.table(view{name: "contexts/name", empty: "no contexts; weft login makes one", columns: []column{
				{head: "CONTEXT", path: "name"}, {head: "SERVER", path: "server"}, {head: "TOKEN", path: "token"}, {head: "CURRENT", path: "current"},
			}}, rows)
		},
	}
	use := &cobra.Command{
		Use: "use NAME", Short: "Use a context from now on", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := a.readContexts()
			if err != nil {
				return err
			}
			name := ids("contexts", args)[0]
			if _, ok := all.Contexts[name]; !ok {
				return usage("there is no context %q; %s", name, known(all))
			}
			all.Current = name
			if err := a.writeContexts(all); err != nil {
				return err
			}
			return a.done(nil, false, "is used", "%s", name)
		},
	}
	remove := &cobra.Command{
		Use: "delete NAME", Short: "Forget a context", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := a.readContexts()
			if err != nil {
				return err
			}
			name := ids("contexts", args)[0]
			if _, ok := all.Contexts[name]; !ok {
				return usage("there is no context %q; %s", name, known(all))
			}
			delete(all.Contexts, name)
			if all.Current == name {
				all.Current = ""
			}
			if err := a.writeContexts(all); err != nil {
				return err
			}
			return a.done(nil, false, "forgotten", "%s", name)
		},
	}
	parent.AddCommand(list, use, remove)
	return parent
}

// mayTry are calls that change nothing, by the role that they need.
var mayTry = []struct {
	role string
	try  func(ctx context.Context, c *apiclient.Client) error
}{
	{"viewer", func(ctx context.Context, c *apiclient.Client) error { _, err := c.ListNodes(ctx); return err }},
	{"operator", func(ctx context.Context, c *apiclient.Client) error {
		_, err := c.SendEvent(ctx, "weft-whoami", apiclient.EventRequest{}, apiclient.SendEventQuery{DryRun: new(true)})
		return err
	}},
	{"designer", func(ctx context.Context, c *apiclient.Client) error {
		_, err := c.PublishDefinition(ctx, []byte("id: weft-whoami\nroot: []\n"), apiclient.PublishDefinitionQuery{DryRun: new(true)})
		return err
	}},
}

func (a *app) whoamiCommand() *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Which server is asked, and what you may do there", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			role := ""
			for _, t := range mayTry {
				err := t.try(cmd.Context(), c)
				var p *apiclient.ProblemError
				if errors.As(err, &p) && p.Status == 403 && role != "" {
					break
				}
				if err != nil && (p == nil || p.Status != 422) {
					return err
				}
				role = t.role
			}
			more := map[bool]string{true: " or more", false: ""}[role == "designer"]
			if a.asData() {
				return a.data(map[string]any{"server": c.Server(), "token": a.token != "", "role": role})
			}
			_, err = fmt.Fprintf(a.out, "server  %s\ntoken   %s\nrole    %s%s\n", c.Server(), map[bool]string{true: "yes", false: "none"}[a.token != ""], role, more)
			return err
		},
	}
}

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Look at what is in the way between here and the cluster, a line each; exit code 1 if something is", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			bad := false
			line := func(name string, err error, fine string) {
				if err != nil {
					bad = true
					fmt.Fprintf(a.out, "bad  %-12s %s\n", name, a.explained(err))
					return
				}
				fmt.Fprintf(a.out, "ok   %-12s %s\n", name, fine)
			}
			line("program", nil, fmt.Sprintf("%s, %s, %s/%s", a.version, runtime.Version(), runtime.GOOS, runtime.GOARCH))
			c, err := a.client()
			line("context", err, fmt.Sprintf("server %s, token %v", a.server, a.token != ""))
			if err != nil {
				return &exitError{ExitBad, nil}
			}
			began := time.Now()
			live, err := c.Live(cmd.Context())
			if err != nil {
				line("server", err, "")
				return &exitError{ExitBad, nil}
			}
			line("server", nil, fmt.Sprintf("%s answers in %v", live.Body.NodeID, time.Since(began).Round(time.Millisecond)))
			_, err = c.Ready(cmd.Context())
			line("ready", err, "it takes work")
			nodes, err := c.ListNodes(cmd.Context())
			if line("credentials", err, "they count"); err != nil {
				return &exitError{ExitBad, nil}
			}
			a.doctorNodes(nodes.Body.Items, line)
			balance, err := c.GetBalance(cmd.Context())
			if err == nil && balance.Body.Difference != 0 {
				err = fmt.Errorf("%d accepted commands have vanished: docs/runbooks/balance-difference.md", balance.Body.Difference)
			}
			line("balance", err, "nothing that was accepted has vanished")
			if bad {
				return &exitError{ExitBad, nil}
			}
			return nil
		},
	}
}

// doctorNodes looks at the nodes: clocks, versions, what stands still.
func (a *app) doctorNodes(nodes []apiclient.Node, line func(string, error, string)) {
	versions := map[string]int{}
	for _, n := range nodes {
		versions[n.Version]++
		var err error
		text := "works"
		switch {
		case n.Draining:
			text = "drains"
		case n.Paused:
			err = errors.New("the cluster is paused; weft cluster unpause goes on")
		case n.Self && n.SeenAt != nil && a.now().Sub(*n.SeenAt).Abs() > 30*time.Second:
			err = fmt.Errorf("its clock and the one here are %v apart, or it has not been heard of for so long", a.now().Sub(*n.SeenAt).Round(time.Second))
		}
		line(n.NodeID, err, text)
	}
	line("versions", nil, strings.Join(slices.Sorted(maps.Keys(versions)), ", "))
}

func (a *app) versionCommand() *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use: "version", Short: "The version of this program; --check compares it with the nodes", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !check {
				if a.asData() {
					return a.data(map[string]any{"version": a.version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
				}
				_, err := fmt.Fprintf(a.out, "weft %s, %s, %s/%s\n", a.version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			nodes, err := c.ListNodes(cmd.Context())
			if err != nil {
				return err
			}
			other := 0
			for _, n := range nodes.Body.Items {
				if n.Version != a.version {
					other++
				}
				fmt.Fprintf(a.out, "%s  %s\n", n.NodeID, n.Version)
			}
			fmt.Fprintf(a.out, "here  %s\n", a.version)
			if other > 0 {
				return &exitError{ExitBad, fmt.Errorf("%d nodes run another version than this program", other)}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "compare with the nodes; exit code 1 if they differ")
	return cmd
}

func (a *app) activitiesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "activities [TYPE]", Aliases: []string{"activity"}, Short: "The built-in activities, or one with its inputs, outputs and outcomes", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			registry := activities.Default()
			if len(args) == 1 {
				d := cmp.Or(registry.ByType(args[0]), registry.ByShortName(args[0]))
				if d == nil {
					return usage("there is no activity %q; weft activities lists them", args[0])
				}
				return a.activity(d)
			}
			var rows []any
			for _, d := range registry.All() {
				rows = append(rows, map[string]any{"key": d.ShortName(), "type": d.Type, "description": d.Description})
			}
			if a.asData() {
				return a.data(map[string]any{"items": rows})
			}
			return a.table(view{name: "activities/key", columns: []column{{head: "ACTIVITY", path: "key"}, {head: "TYPE", path: "type", wide: true}, {head: "WHAT IT DOES", path: "description"}}}, rows)
		},
	}
}

// activity shows a descriptor.
func (a *app) activity(d *workflow.Descriptor) error {
	if a.asData() {
		raw, err := encoded(d)
		if err != nil {
			return err
		}
		return a.show(view{}, raw)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  (%s)\n%s\n", d.ShortName(), d.Type, d.Description)
	if len(d.Inputs) > 0 {
		b.WriteString("\nINPUTS\n")
	}
	for _, in := range d.Inputs {
		about := in.Type
		if in.Required {
			about += ", required"
		}
		if in.Name == d.Main {
			about += ", main"
		}
		if in.Default != nil {
			about += fmt.Sprintf(", default %v", in.Default)
		}
		if len(in.Options) > 0 {
			about += ", one of " + strings.Join(in.Options, ", ")
		}
		fmt.Fprintf(&b, "  %s  (%s)\n      %s\n", in.Name, about, in.Description)
	}
	if len(d.Outputs) > 0 {
		b.WriteString("\nOUTPUTS\n")
	}
	for _, out := range d.Outputs {
		fmt.Fprintf(&b, "  %s  (%s)\n      %s\n", out.Name, out.Type, out.Description)
	}
	if len(d.Ports) > 0 {
		fmt.Fprintf(&b, "\nBRANCHES  %s\n", strings.Join(d.Ports, ", "))
	}
	outcomes := strings.Join(d.Outcomes, ", ")
	if d.AnyOutcome {
		outcomes = "any"
	}
	fmt.Fprintf(&b, "\nOUTCOMES  %s\n", cmp.Or(outcomes, "Done"))
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "The JSON Schema of definitions in YAML, for editors; of --server with its own activities", Args: cobra.NoArgs,
		Example: "  weft schema > weft.schema.json\n  # first line of a definition: # yaml-language-server: $schema=weft.schema.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			schema := weftyaml.Schema(activities.Default())
			if cmd.Flags().Changed("server") {
				c, err := a.client()
				if err != nil {
					return err
				}
				answer, err := c.Schema(cmd.Context())
				if err != nil {
					return err
				}
				schema = answer.Bytes
			}
			_, err := a.out.Write(schema)
			return err
		},
	}
}
