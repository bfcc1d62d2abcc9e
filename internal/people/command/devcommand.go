package command

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/internal/people/command/dev"
	"github.com/weft-run/weft/internal/people/command/typesflag"
	"github.com/weft-run/weft/pkg/node"
)

// newDevCommand is weft dev.
func newDevCommand(stdout, stderr io.Writer) *cobra.Command {
	cfg := dev.Config{Version: version(), In: os.Stdin, Out: stdout, ErrOut: stderr}
	var level string
	var keys bool
	cmd := &cobra.Command{
		Use:   "dev [DIRECTORY]",
		Short: "Run a cluster here while you write workflows: it publishes what you save",
		Long: "Run a cluster here while you write workflows. Nodes, their etcd and the console run until you end it, and listen on\n" +
			"loopback only. Every definition in DIRECTORY, and below it, is published as it is saved, with its problems; instances that fault are\n" +
			"told. Without DIRECTORY an example is published. The first node has the etcd; --nodes adds some in processes of their own, which the\n" +
			"keys k and p kill and pause. Other than in production, activities may call loopback and private addresses.",
		Example: "  weft dev flows/\n  weft dev flows/ --nodes 3 --data-dir .weft",
		Args: func(c *cobra.Command, args []string) error {
			if err := cobra.MaximumNArgs(1)(c, args); err != nil {
				return ask.Usage("%w; usage: %s", err, c.UseLine())
			}
			return nil
		},
		GroupID:       "work",
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				cfg.Dir = args[0]
			}
			if !keys && !ask.IsTerminal(cfg.In) {
				cfg.In = nil
			}
			log, _, err := newLogger(stderr, level, "text")
			if err != nil {
				return err
			}
			cfg.Log = log
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program: %w", err)
			}
			cfg.Program = []string{self, devNode, "--log-level", level}
			return dev.Run(cmd.Context(), cfg)
		},
	}
	f := cmd.Flags()
	f.IntVar(&cfg.Nodes, "nodes", 1, "so many nodes, up to 9")
	f.StringVar(&cfg.HTTPAddr, "http-addr", "", "the first node listens here (default: 127.0.0.1:8080, or another port if that is taken)")
	f.StringVar(&cfg.DataDir, "data-dir", "", "keep the data here (default: it is gone at the end)")
	typesflag.Add(f, &cfg.Types)
	f.StringVar(&cfg.Secrets, "secrets-dir", "", "directory with one file per secret, for expressions (secrets.NAME) and webhooks")
	f.StringVar(&level, "log-level", "error", "what of the nodes' logs is shown: debug, info, warn or error")
	f.BoolVar(&keys, "keys", false, "take keys also where standard input is no terminal")
	cmd.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return ask.Usage("%w; %s --help lists what there is", err, c.CommandPath())
	})
	return cmd
}

const devNode = "dev-node"

// newDevNodeCommand is one of the further nodes of weft dev: it takes the flags of a node, and
// ends with its standard input, so that it does not outlive the one that started it.
func newDevNodeCommand(stdout, stderr io.Writer) *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use: devNode, Hidden: true, Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, _, err := newLogger(stderr, s.logLevel, "text")
			if err != nil {
				return err
			}
			s.node.Logger, s.node.Lines, s.node.Version = log, stdout, version()
			ctx, end := context.WithCancel(cmd.Context())
			defer end()
			go func() {
				_, _ = io.Copy(io.Discard, os.Stdin) // it ends with the other process
				end()
			}()
			return run(ctx, s.node, log, func(*node.Node) {})
		},
	}
	s.flags(cmd.Flags())
	return cmd
}
