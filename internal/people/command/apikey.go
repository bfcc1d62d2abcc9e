package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/internal/auth"
)

// newAPIKeyCommand makes API keys: the key for its owner, its hash for the file
// that the nodes read.
func newAPIKeyCommand(stdout io.Writer, environ func() []string) *cobra.Command {
	var s settings
	var role, out string
	var lifetime time.Duration
	var groups []string
	cmd := &cobra.Command{
		Use:   "apikey NAME --role ROLE --auth-keys-file FILE",
		Short: "Make an API key: print it once, and add its hash to the file that the nodes read",
		Long: "Make an API key: print it once, and add its hash to the file that the nodes read.\n" +
			"Nodes notice within seconds. To revoke a key, delete its entry from the file; to revoke all, let the file\n" +
			"have the one word none: nodes take an empty one for damage, and keep what counted before.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := layer(cmd.Flags(), environ); err != nil {
				return err
			}
			if s.node.AuthKeysFile == "" {
				return errors.New("say with --auth-keys-file which file the nodes read")
			}
			parsed, err := auth.ParseRole(role)
			if err != nil {
				return fmt.Errorf("--role: %w", err)
			}
			var expires *time.Time
			if lifetime != 0 {
				at := time.Now().UTC().Add(lifetime).Truncate(time.Second)
				expires = &at
			}
			key, made, err := addKey(s.node.AuthKeysFile, out, args[0], parsed, expires, groups)
			switch {
			case err != nil:
				return err
			case !made:
				fmt.Fprintln(stdout, "kept", out)
			case out != "":
				fmt.Fprintln(stdout, "wrote", out)
			default:
				fmt.Fprintln(stdout, key)
			}
			return nil
		},
	}
	s.flags(cmd.Flags())
	cmd.Flags().VisitAll(hide)
	cmd.Flags().Lookup("auth-keys-file").Hidden = false
	cmd.Flags().StringVar(&role, "role", "", "business, viewer, operator, designer or admin")
	cmd.Flags().StringSliceVar(&groups, "groups", nil, "groups of who has it, for user tasks and the policies of endpoints")
	cmd.Flags().DurationVar(&lifetime, "expires-in", 0, "for this long, such as 720h (default: until it is deleted)")
	cmd.Flags().StringVar(&out, "out", "", "write the key to this file instead of printing it; if the file and the entry exist, keep both")
	return cmd
}

// addKey makes a key and adds its entry. The entry comes last: a key that nobody
// has counts nowhere, and with out, a run that was cut off is done again.
func addKey(file, out, name string, role auth.Role, expires *time.Time, groups []string) (key string, made bool, err error) {
	src, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, fmt.Errorf("read the API keys: %w", err)
	}
	entries, err := auth.ParseKeyFile(src)
	if err != nil && !errors.Is(err, auth.ErrNoKeys) {
		return "", false, fmt.Errorf("%s: %w", file, err)
	}
	if len(entries) == 0 { // an entry cannot be added to an empty list, or to the word none
		src = bytes.TrimSpace(src)
		for _, nothing := range []string{"[]", "none", "null", "~"} {
			src = bytes.TrimSuffix(src, []byte(nothing))
		}
	}
	if slices.ContainsFunc(entries, func(e auth.KeyEntry) bool { return e.Name == name }) {
		if _, err := os.Stat(out); out != "" && err == nil {
			return "", false, nil
		}
		return "", false, fmt.Errorf("%s has a key called %q already; delete its entry to revoke it, or take another name", file, name)
	}
	key, entry, err := auth.NewKey(name, role, expires)
	if err != nil {
		return "", false, err
	}
	entry.Groups = groups
	more, err := yaml.Marshal([]auth.KeyEntry{entry})
	if err != nil {
		return "", false, err
	}
	if len(src) > 0 && !bytes.HasSuffix(src, []byte("\n")) {
		src = append(src, '\n')
	}
	src = append(src, more...)
	if _, err := auth.ParseKeyFile(src); err != nil {
		return "", false, fmt.Errorf("add to %s: %w", file, err)
	}
	if out != "" {
		if err := replaceFile(out, []byte(key), 0o440); err != nil {
			return "", false, fmt.Errorf("write the key: %w", err)
		}
	}
	// Hashes are no secret, and nodes run as users of their own.
	if err := replaceFile(file, src, 0o644); err != nil {
		return "", false, fmt.Errorf("write the API keys: %w", err)
	}
	return key, true, nil
}

// replaceFile leaves the old file or the new one, whole.
func replaceFile(name string, content []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
