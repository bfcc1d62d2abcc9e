package node

import (
	"log/slog"

	"github.com/weft-run/weft/internal/secrets"
)

// openSecrets reads the directory of secrets, if there is one, and puts itself
// between the node and its log, so that no value gets there.
func openSecrets(cfg *Config) (*secrets.Dir, error) {
	if cfg.SecretsDir == "" {
		return nil, nil
	}
	dir, err := secrets.Open(cfg.SecretsDir, cfg.Logger)
	if err != nil {
		return nil, err
	}
	cfg.Logger = slog.New(dir.Handler(cfg.Logger.Handler()))
	return dir, nil
}

// secretSource gives the present secrets; nil if the node has none.
func (n *Node) secretSource() func() *secrets.Set {
	if n.secrets == nil {
		return nil
	}
	return n.secrets.Current
}

// redact gives a text as the node shows it.
func (n *Node) redact(text string) string { return n.secrets.Current().Redact(text) }
