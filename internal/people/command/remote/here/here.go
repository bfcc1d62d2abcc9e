// Package here has the commands about this machine: contexts, this program, and what it knows by itself.
package here

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/internal/people/command/typesflag"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/apiclient"
	weftyaml "github.com/weft-run/weft/pkg/workflow/yaml"
	"github.com/weft-run/weft/pkg/workflowtest"
)

// commands are those of this family.
type commands struct{ ask *ask.Asker }

// Commands are the commands of this package, which ask as asker does.
func Commands(asker *ask.Asker) []*cobra.Command {
	a := commands{asker}
	return []*cobra.Command{a.loginCommand(), a.logoutCommand(), a.contextCommand(), a.whoamiCommand(), a.doctorCommand(), a.versionCommand(), a.activitiesCommand(), a.schemaCommand()}
}

func (a commands) loginCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "login", Short: "Keep a server and its token as a context, after trying them", Args: cobra.NoArgs,
		Long: "Keep a server and its token as a context, after trying them. The token comes from --token-file (- is standard\n" +
			"input) or WEFT_TOKEN; without one the server must ask for none. Contexts are kept in a file that only you can read.",
		Example: "  weft login --server https://weft.example --token-file key\n  weft login --server http://127.0.0.1:8080 --name local",
		RunE: func(cmd *cobra.Command, _ []string) error {
			host, at, err := a.ask.SignIn(cmd.Context())
			if err != nil {
				return err
			}
			all, err := a.ask.ReadContexts()
			if err != nil {
				return err
			}
			name := cmp.Or(name, host)
			all.Contexts[name], all.Current = at, name
			if err := a.ask.WriteContexts(all); err != nil {
				return err
			}
			return a.ask.Done(nil, false, "signed in at "+at.Server, "%s", name)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the context (default: the server's host)")
	return cmd
}

func (a commands) logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logout [CONTEXT]", Short: "Forget the token of a context", Args: cobra.MaximumNArgs(1), ValidArgsFunction: a.ask.CompletesContexts,
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := a.ask.ReadContexts()
			if err != nil {
				return err
			}
			name := cmp.Or(append(args, "")[0], a.ask.Used(all))
			at, err := all.Get(name)
			if err != nil {
				return err
			}
			at.Token = ""
			all.Contexts[name] = at
			if err := a.ask.WriteContexts(all); err != nil {
				return err
			}
			return a.ask.Done(nil, false, "signed out", "%s", name)
		},
	}
}

func (a commands) contextCommand() *cobra.Command {
	parent := &cobra.Command{Use: "context", Aliases: []string{"contexts"}, Short: "The clusters that you work with"}
	list := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List contexts", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all, err := a.ask.ReadContexts()
			if err != nil {
				return err
			}
			current := a.ask.Used(all)
			var rows []any
			for _, name := range slices.Sorted(maps.Keys(all.Contexts)) {
				at := all.Contexts[name]
				rows = append(rows, map[string]any{"name": name, "server": at.Server, "token": at.Token != "", "current": name == current})
			}
			if a.ask.AsData() {
				return a.ask.Data(map[string]any{"items": rows})
			}
			return a.ask.Table(ask.View{Name: "contexts/name", Empty: "no contexts; weft login makes one", Columns: []ask.Column{
				{Head: "CONTEXT", Path: "name"}, {Head: "SERVER", Path: "server"}, {Head: "TOKEN", Path: "token"}, {Head: "CURRENT", Path: "current"},
			}}, rows)
		},
	}
	use := &cobra.Command{
		Use: "use NAME", Short: "Use a context from now on", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.CompletesContexts,
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := a.ask.ReadContexts()
			if err != nil {
				return err
			}
			name := ask.IDs("contexts", args)[0]
			if _, err := all.Get(name); err != nil {
				return err
			}
			all.Current = name
			if err := a.ask.WriteContexts(all); err != nil {
				return err
			}
			return a.ask.Done(nil, false, "is used", "%s", name)
		},
	}
	remove := &cobra.Command{
		Use: "delete NAME", Short: "Forget a context", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.CompletesContexts,
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := a.ask.ReadContexts()
			if err != nil {
				return err
			}
			name := ask.IDs("contexts", args)[0]
			if _, there := all.Contexts[name]; !there {
				_, err := all.Get(name)
				return err
			}
			delete(all.Contexts, name)
			if all.Current == name {
				all.Current = ""
			}
			if err := a.ask.WriteContexts(all); err != nil {
				return err
			}
			return a.ask.Done(nil, false, "forgotten", "%s", name)
		},
	}
	parent.AddCommand(list, use, a.contextSet(), remove)
	return parent
}

func (a commands) contextSet() *cobra.Command {
	return &cobra.Command{
		Use: "set NAME", Short: "Make or change a context, without asking its server", Args: cobra.ExactArgs(1), ValidArgsFunction: a.ask.CompletesContexts,
		Long: "Make or change a context, by --server, --token-file and --cacert, without asking its server: weft login tries what it keeps.\n" +
			"What no flag says stays; with another server the token goes. The first context is used from then on.",
		Example: "  weft context set prod --server https://weft.example --token-file key",
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := a.ask.ReadContexts()
			if err != nil {
				return err
			}
			name := ask.IDs("contexts", args)[0]
			if all.Contexts[name], err = a.ask.Amended(all.Contexts[name]); err != nil {
				return err
			}
			all.Current = cmp.Or(all.Current, name)
			if err := a.ask.WriteContexts(all); err != nil {
				return err
			}
			return a.ask.Done(nil, false, "is "+all.Contexts[name].Server, "%s", name)
		},
	}
}

func (a commands) whoamiCommand() *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Which server is asked, by which context, and who you are there", Args: cobra.NoArgs,
		Long: "Which server is asked, by which context, and who you are there: your name and role, whether an API key or a token says so,\n" +
			"and until when. Credentials that do not count end it with 4.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			name, err := a.ask.ContextName()
			if err != nil {
				return err
			}
			who, err := c.Whoami(cmd.Context())
			var p *apiclient.ProblemError
			if errors.As(err, &p) && p.Status == 404 {
				return ask.Exit(ask.ExitRefused, fmt.Errorf("the node at %s is of a version that does not tell who asks; weft version --check compares", c.Server()))
			}
			if err != nil {
				return err
			}
			return a.who(c.Server(), name, who.Body)
		},
	}
}

// who shows who asks which server.
func (a commands) who(server, context string, who apiclient.Caller) error {
	row := map[string]any{
		"server": server, "context": nil, "name": nil, "role": who.Role, "groups": who.Groups, "by": who.By, "expiresAt": nil,
	}
	if context != "" {
		row["context"] = context
	}
	if who.Name != nil {
		row["name"] = *who.Name
	}
	if who.ExpiresAt != nil {
		row["expiresAt"] = who.ExpiresAt.Format(time.RFC3339)
	}
	if a.ask.AsData() {
		return a.ask.Data(row)
	}
	if !a.ask.ForPeople() {
		return a.ask.Table(ask.View{Name: "callers/name", Columns: []ask.Column{
			{Head: "SERVER", Path: "server"}, {Head: "CONTEXT", Path: "context"}, {Head: "NAME", Path: "name"}, {Head: "ROLE", Path: "role"},
		}}, []any{row})
	}
	lines := [][2]string{{"server", server}, {"context", cmp.Or(context, "none")}, {"name", cmp.Or(ask.Deref(who.Name), "nobody: no credentials are asked for")}, {"role", who.Role}}
	if len(who.Groups) > 0 {
		lines = append(lines, [2]string{"groups", ask.OneLine(strings.Join(who.Groups, ", "))})
	}
	switch who.By {
	case "key":
		lines = append(lines, [2]string{"by", "an API key"})
	case "nothing":
	default:
		lines = append(lines, [2]string{"by", "a " + ask.OneLine(who.By)})
	}
	if who.By != "nothing" {
		lines = append(lines, [2]string{"expires", cmp.Or(a.ask.Moment(who.ExpiresAt), "never")})
	}
	for _, line := range lines {
		if _, err := fmt.Fprintf(a.ask.Out, "%-8s %s\n", line[0], line[1]); err != nil {
			return err
		}
	}
	return nil
}

func (a commands) versionCommand() *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use: "version", Short: "The version of this program, with its commit, formats and etcd client; --check compares it with the nodes", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !check {
				return a.version()
			}
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			nodes, err := c.ListNodes(cmd.Context())
			if err != nil {
				return err
			}
			other, rows := 0, []any{}
			for _, n := range nodes.Body.Items {
				if n.Version != a.ask.Version {
					other++
				}
				rows = append(rows, map[string]any{"nodeId": n.NodeID, "version": n.Version})
			}
			if a.ask.AsData() {
				err = a.ask.Data(map[string]any{"here": a.ask.Version, "items": rows})
			} else {
				err = a.ask.Table(ask.View{Name: "nodes/nodeId", Columns: []ask.Column{{Head: "NODE", Path: "nodeId"}, {Head: "VERSION", Path: "version"}}}, append(rows, map[string]any{"nodeId": "(here)", "version": a.ask.Version}))
			}
			if err != nil {
				return err
			}
			if other > 0 {
				return ask.Exit(ask.ExitBad, fmt.Errorf("%d nodes run another version than this program", other))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "compare with the nodes; exit code 1 if they differ")
	return cmd
}

// version shows what this program is made of.
func (a commands) version() error {
	etcd := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "go.etcd.io/etcd/client/v3" {
				etcd = dep.Version
			}
		}
	}
	if a.ask.AsData() {
		return a.ask.Data(map[string]any{
			"version": a.ask.Version, "commit": a.ask.Commit, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
			"dataFormat": etcdstore.DataFormat, "api": "v1", "schema": "v1", "etcdClient": etcd,
		})
	}
	_, err := fmt.Fprintf(a.ask.Out, "weft %s, %s, %s/%s\ncommit       %s\ndata format  %d\nAPI          v1\nschema       v1\netcd client  %s\n",
		a.ask.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, cmp.Or(a.ask.Commit, "not known"), etcdstore.DataFormat, cmp.Or(etcd, "not known"))
	return err
}

func (a commands) schemaCommand() *cobra.Command {
	var tests bool
	var dir string
	cmd := &cobra.Command{
		Use: "schema", Short: "The JSON Schema of definitions in YAML, for editors; of --server or --context with its own activities", Args: cobra.NoArgs,
		Example: "  weft schema > weft.schema.json\n  # first line of a definition: # yaml-language-server: $schema=weft.schema.json\n  weft schema --tests > weft-test.schema.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			types, err := typesflag.Types(dir)
			if err != nil {
				return err
			}
			schema := weftyaml.Schema(types)
			if tests {
				schema = workflowtest.Schema()
			} else if a.ask.Named() {
				c, err := a.ask.Client()
				if err != nil {
					return err
				}
				answer, err := c.Schema(cmd.Context())
				if err != nil {
					return err
				}
				schema = answer.Bytes
			}
			_, err = a.ask.Out.Write(schema)
			return err
		},
	}
	typesflag.Add(cmd.Flags(), &dir)
	cmd.Flags().BoolVar(&tests, "tests", false, "of test files (*.test.yaml)")
	return cmd
}
