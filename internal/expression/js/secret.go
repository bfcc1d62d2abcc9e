package js

import (
	"regexp"
	"strings"

	"github.com/dop251/goja"

	"github.com/weft-run/weft/internal/expression/evaluation"
)

// secretNamed finds secrets by name in a script: secrets.NAME, secrets["NAME"] and
// getSecret("NAME").
var (
	secretNamed = regexp.MustCompile(`(?:^|[^.\w$])(?:secrets\s*(?:\?\.|\.)\s*([A-Za-z_][A-Za-z0-9_]*)|(?:secrets\s*\[|getSecret\s*\()\s*["']([A-Za-z0-9._-]+)["'])`)
	ownSecrets  = regexp.MustCompile(`\b(?:var|let|const|function)\s+(?:secrets|getSecret)\b`)
)

// secretsIn gives the names of secrets that source reads, as far as it shows;
// none if it has a secrets of its own.
func secretsIn(source string) []string {
	if !strings.Contains(source, "ecret") {
		return nil // the patterns take long for a long source
	}
	if ownSecrets.MatchString(source) {
		return nil
	}
	return evaluation.SecretNames(secretNamed, source, nil)
}

func (x *scriptRun) secret(name string) goja.Value {
	v, ok := x.scope.Secret(name)
	if !ok {
		panic(x.vm.NewTypeError("%s", evaluation.NoSecret(name).Error()))
	}
	return x.vm.ToValue(v)
}

// secretsOf is the global secrets of scripts. It does not tell which there are.
type secretsOf struct{ x *scriptRun }

func (s secretsOf) Get(key string) goja.Value { return s.x.secret(key) }

func (secretsOf) Set(string, goja.Value) bool { return false }

func (secretsOf) Has(string) bool { return true }

func (secretsOf) Delete(string) bool { return false }

func (secretsOf) Keys() []string { return nil }
