package command

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newSecretCommand writes random secrets, so that a deployment has none by
// default and nobody has to think of one.
func newSecretCommand(stdout io.Writer) *cobra.Command {
	var show bool
	cmd := &cobra.Command{
		Use:   "secret FILE...",
		Short: "Write a random secret (256 bits, base64) to each file that does not exist yet",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, files []string) error {
			for _, name := range files {
				if show {
					text, err := os.ReadFile(name)
					if err != nil {
						return fmt.Errorf("show a secret: %w", err)
					}
					fmt.Fprintln(stdout, strings.TrimSpace(string(text)))
					continue
				}
				made, err := writeSecret(name)
				if err != nil {
					return fmt.Errorf("write a secret: %w", err)
				}
				if made {
					fmt.Fprintln(stdout, "wrote", name)
				} else {
					fmt.Fprintln(stdout, "kept", name)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&show, "show", false, "print what is in the files instead: the image has no other program that could")
	return cmd
}

// writeSecret leaves a whole file or none: it writes a file beside it and links that.
// It keeps a file that exists, also one that another process makes at the same time.
// Owner and group may read it.
func writeSecret(name string) (made bool, err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".secret-*")
	if err != nil {
		return false, err
	}
	defer os.Remove(f.Name())
	raw := make([]byte, 32)
	if _, err := rand.Read(raw); err != nil {
		return false, errors.Join(err, f.Close())
	}
	_, err = io.WriteString(f, base64.RawURLEncoding.EncodeToString(raw))
	if err := errors.Join(err, f.Chmod(0o440), f.Sync(), f.Close()); err != nil {
		return false, err
	}
	err = os.Link(f.Name(), name)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

func hide(f *pflag.Flag) { f.Hidden = true }
