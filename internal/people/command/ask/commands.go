package ask

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/pkg/apiclient"
)

// ListCommand is a command that lists what one route gives, page by page.
func (a *Asker) ListCommand(short string, v View, fetch func(ctx context.Context, c *apiclient.Client, limit int64, cursor string) ([]byte, error)) *cobra.Command {
	var p Paging
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			return a.Lists(cmd.Context(), &p, v, func(limit int64, cursor string) ([]byte, error) {
				return fetch(cmd.Context(), c, limit, cursor)
			})
		},
	}
	p.Flags(cmd)
	return cmd
}

// BytesOf gives the bytes of an answer.
func BytesOf[T any](answer *apiclient.Answer[T], err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return answer.Bytes, nil
}

// ShowCommand is a command that shows one thing.
func (a *Asker) ShowCommand(use, short string, v View, fetch func(ctx context.Context, c *apiclient.Client, id string) ([]byte, error)) *cobra.Command {
	kind, _, _ := strings.Cut(v.Name, "/")
	return Watched(&cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: a.Completes(kind),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			return a.Repeated(cmd.Context(), func() error {
				raw, err := fetch(cmd.Context(), c, IDs(kind, args)[0])
				if err != nil {
					return err
				}
				if a.ForPeople() {
					value, err := DecodeJSON(raw)
					if err != nil {
						return err
					}
					return a.tree(value, "")
				}
				return a.Show(v, raw)
			})
		},
	})
}

// tree shows one thing as lines of name and value, what is inside further right.
func (a *Asker) tree(value any, indent string) error {
	object, ok := value.(map[string]any)
	if !ok {
		_, err := fmt.Fprintf(a.Out, "%s%s\n", indent, OneLineOf(Text(value), 2000))
		return err
	}
	for _, name := range SortedKeys(object) {
		v := object[name]
		if inner, ok := v.(map[string]any); ok && len(inner) > 0 {
			if _, err := fmt.Fprintf(a.Out, "%s%s\n", indent, name); err != nil {
				return err
			}
			if err := a.tree(inner, indent+"  "); err != nil {
				return err
			}
			continue
		}
		shown := Text(v)
		if strings.HasSuffix(name, "At") || name == "since" || name == "at" {
			shown = When(a, v, nil)
		}
		if shown == "-" || shown == "[]" || shown == "{}" {
			continue
		}
		if _, err := fmt.Fprintf(a.Out, "%s%-*s  %s\n", indent, 18-len(indent), name, OneLineOf(shown, 2000)); err != nil {
			return err
		}
	}
	return nil
}

// DeleteCommand removes things by their ids.
func (a *Asker) DeleteCommand(kind, short string, do func(ctx context.Context, c *apiclient.Client, id string) error) *cobra.Command {
	return &cobra.Command{
		Use: "delete ID...", Short: short, Args: cobra.MinimumNArgs(1), ValidArgsFunction: a.Completes(kind),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			if err := a.Confirm("delete %s", strings.Join(args, ", ")); err != nil {
				return err
			}
			return a.Each(kind, args, func(id string, _ []apiclient.Option) error {
				if err := do(cmd.Context(), c, id); err != nil {
					return err
				}
				return a.Done(nil, false, "deleted", "%s", id)
			})
		},
	}
}
