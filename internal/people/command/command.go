package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/internal/people/command/remote"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
)

// newCommand is the root command. It runs a node; what helps to operate one
// hangs off it.
func newCommand(stdout, stderr io.Writer, environ func() []string) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "weft",
		Short:   "Run one node of a Weft cluster",
		Version: version(),
		Args:    noCommand,

		SuggestionsMinimumDistance: 2,

		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	runsNode(cmd, stdout, stderr, environ)
	server := &cobra.Command{Use: serverName, Short: "Run one node of a Weft cluster, as weft without a command does", Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true}
	runsNode(server, stdout, stderr, environ)
	cmd.AddCommand(server)
	cmd.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if c == cmd || c == server { // a node that cannot start ends with 1, for any reason
			return err
		}
		return &usageError{fmt.Errorf("%w; %s --help lists what there is", err, c.CommandPath())}
	})
	for _, sub := range []*cobra.Command{
		newTestCommand(stdout), newHealthCommand(stdout, environ), newSecretCommand(stdout), newAPIKeyCommand(stdout, environ), newFsck(stdout, stderr, environ),
	} {
		endsWith2(sub)
		cmd.AddCommand(sub)
	}
	cmd.AddCommand(newDevCommand(stdout, stderr), newDevNodeCommand(stdout, stderr), newManCommand(version(), environ))
	remote.Add(cmd, ask.Streams{In: os.Stdin, Out: stdout, Err: stderr}, environ(), version(), commit())
	if store, _, err := cmd.Find([]string{"store"}); err == nil {
		store.AddCommand(newStoreRepair(stdout, stderr, environ))
	}
	help := newHelpCommand(stdout)
	cmd.AddCommand(help)
	cmd.SetHelpCommand(help)
	usual := cmd.HelpFunc()
	cmd.SetHelpFunc(func(c *cobra.Command, args []string) {
		if words := c.Flags().Args(); c.HasSubCommands() && len(words) > 0 { // cobra would help with the command above it
			cmd.Annotations = map[string]string{helpedWith: noCommand(c, words).Error()}
			return
		}
		usual(c, args)
	})
	return cmd
}

// helpedWith is what was wrong about a command that help was asked of, which cobra takes for none.
const helpedWith = "helped with"

const serverName = "server"

// runsNode lets a command run a node, with all of its settings.
func runsNode(cmd *cobra.Command, stdout, stderr io.Writer, environ func() []string) {
	var s settings
	s.flags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := layer(cmd.Flags(), environ); err != nil {
			return err
		}
		log, text, err := newLogger(stderr, s.logLevel, s.logFormat)
		if err != nil {
			return err
		}
		for name, meant := range strays(cmd.Flags(), environ()) {
			log.WarnContext(cmd.Context(), "an environment variable is no setting", slog.String("name", name), slog.String("meant", meant))
		}
		log.InfoContext(cmd.Context(), "configuration", resolved(cmd.Flags())...)
		s.node.Logger, s.node.Version, s.node.ReplyWait = log, version(), replyWait
		if err := s.sendLines(stdout); err != nil {
			return err
		}
		stop, err := s.trace(cmd.Context())
		if err != nil {
			return err
		}
		defer stop()
		return run(cmd.Context(), s.node, log, func(n *node.Node) {
			if text {
				fmt.Fprintf(stderr, "\n  %s\n\n", n.Try(cmd.Context()))
			}
		})
	}
}

// endsWith2 lets arguments that are no ones end a command with 2.
func endsWith2(cmd *cobra.Command) {
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	check := cmd.Args
	cmd.Args = func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return &usageError{fmt.Errorf("%w; usage: %s", err, c.UseLine())}
		}
		return nil
	}
}

// replyWait is the node's [node.Config.ReplyWait]; 0: its default. Tests set it.
var replyWait time.Duration

// noCommand refuses words that are no command, with what was probably meant.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if s := cmd.SuggestionsFor(args[0]); len(s) > 0 {
		hint = fmt.Sprintf(" (did you mean %s?)", s[0])
	}
	return &usageError{fmt.Errorf("unknown command %q for %q%s; weft --help lists them", args[0], cmd.CommandPath(), hint)}
}

// usageError ends the program with 2.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// secondSignal is how long after the first signal others count for the same one: a supervisor
// may send it to the process and to its group, and a terminal twice.
const secondSignal = time.Second

// run runs a node until it is told to stop.
func run(ctx context.Context, cfg node.Config, log *slog.Logger, ready func(*node.Node)) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	defer signal.Stop(signals)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	over := make(chan struct{})
	defer close(over)
	systemd := supervisor{log}
	go func() {
		for first := (time.Time{}); ; {
			select {
			case got := <-signals:
				if !first.IsZero() && time.Since(first) < secondSignal {
					continue
				}
				if !first.IsZero() {
					log.ErrorContext(ctx, "stopped at once by a second signal", slog.String("signal", got.String()))
					os.Exit(1)
				}
				first = time.Now()
				log.InfoContext(ctx, "stopping; a second signal, after a second or more, ends it at once", slog.String("signal", got.String()))
				systemd.say(daemon.SdNotifyStopping)
				stop(fmt.Errorf("got signal %v", got))
			case <-over:
				return
			}
		}
	}()
	n, err := full.New(ctx, cfg)
	if err != nil {
		if node.ToldToStop(ctx, err) {
			return nil
		}
		return err
	}
	living, dead := context.WithCancel(context.WithoutCancel(ctx)) // also while it drains
	fed := func() {}
	defer func() { dead(); fed() }()
	return n.Run(ctx, func(n *node.Node) {
		if cfg.HTTPAddr = n.HTTPAddr(); ready != nil {
			ready(n)
		}
		fed = systemd.ready(living, cfg)
	})
}

// newLogger makes the log; text tells whether people read it.
func newLogger(w io.Writer, level, format string) (log *slog.Logger, text bool, err error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, false, fmt.Errorf("log-level is %q; it must be debug, info, warn or error", level)
	}
	if format == "" {
		format = "json"
		if isTerminal(w) {
			format = "text"
		}
	}
	opts := &slog.HandlerOptions{Level: l, ReplaceAttr: withUnits}
	switch format {
	case "json":
		return slog.New(slog.NewJSONHandler(w, opts)), false, nil
	case "text":
		return slog.New(slog.NewTextHandler(w, opts)), true, nil
	}
	return nil, false, fmt.Errorf("log-format is %q; it must be text or json", format)
}

// sendLines says where writeLine writes. A program that collects what a node says needs to know
// which instance said it; people at a terminal see the line.
func (s *settings) sendLines(stdout io.Writer) error {
	switch s.lines {
	case "":
		s.node.LogLines = !isTerminal(stdout)
	case "log":
		s.node.LogLines = true
	case "stdout":
	default:
		return fmt.Errorf("lines is %q; it must be stdout or log", s.lines)
	}
	if !s.node.LogLines {
		s.node.Lines = stdout
	}
	return nil
}

// withUnits gives durations as texts with their unit: in JSON they are nanoseconds.
func withUnits(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// The linker sets these for releases, which are built without what Go knows of the repository.
var stamped, stampedCommit string

// commit is what the program was built from, in full; "" if nobody knows.
func commit() string { return cmp.Or(stampedCommit, builtFrom()) }

// builtFrom is the commit that Go notes in what is built in a repository.
func builtFrom() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return ""
}

func version() string {
	if stamped != "" {
		return "v" + strings.TrimPrefix(stamped, "v")
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	revision := commit()
	return cmp.Or(revision[:min(12, len(revision))], "devel")
}
