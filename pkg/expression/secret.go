package expression

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/dop251/goja"
)

// noSecret is the error of an expression that reads a secret which is not there.
func noSecret(name string) error {
	return fmt.Errorf("there is no secret %s that this node can read; it comes from a file of that name in --secrets-dir", name)
}

// secretNamed finds secrets by name in a script: secrets.NAME, secrets["NAME"] and
// getSecret("NAME"); liquidNamed in what a template evaluates.
var (
	liquidCode  = regexp.MustCompile(`(?s)\{\{.*?\}\}|\{%.*?%\}`)
	liquidNamed = regexp.MustCompile(`(?:^|[^.\w-])secrets(?:\.([A-Za-z_][A-Za-z0-9_-]*)|\s*\[\s*["']([A-Za-z0-9._-]+)["'])`)
	secretNamed = regexp.MustCompile(`(?:^|[^.\w$])(?:secrets\s*(?:\?\.|\.)\s*([A-Za-z_][A-Za-z0-9_]*)|(?:secrets\s*\[|getSecret\s*\()\s*["']([A-Za-z0-9._-]+)["'])`)
	ownSecrets  = regexp.MustCompile(`\b(?:var|let|const|function)\s+(?:secrets|getSecret)\b`)
)

// secretsIn gives the names of secrets that source reads, as far as it shows;
// none if it has a secrets of its own.
func secretsIn(source string) []string {
	if ownSecrets.MatchString(source) {
		return nil
	}
	return namesOf(secretNamed, source, nil)
}

// templateSecrets gives the names of secrets that a Liquid template reads.
func templateSecrets(source string) []string {
	var names []string
	for _, code := range liquidCode.FindAllString(source, -1) {
		names = namesOf(liquidNamed, code, names)
	}
	return names
}

func namesOf(pattern *regexp.Regexp, source string, names []string) []string {
	for _, m := range pattern.FindAllStringSubmatch(source, -1) {
		if name := m[1] + m[2]; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Secrets names what the template's expressions read.
func (n node) Secrets() []string {
	var names []string
	if n.code != nil {
		for _, r := range n.code.refs {
			if r.kind == refSecret && !slices.Contains(names, r.name) {
				names = append(names, r.name)
			}
		}
	}
	for _, k := range n.kids {
		for _, name := range k.Secrets() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// secret reads a secret for a script.
func (x *scriptRun) secret(name string) goja.Value {
	v, ok := x.scope.Secret(name)
	if !ok {
		panic(x.vm.NewTypeError(noSecret(name).Error()))
	}
	return x.vm.ToValue(v)
}

// secretsOf is the global secrets of scripts. It does not tell which there are.
type secretsOf struct{ x *scriptRun }

func (s secretsOf) Get(key string) goja.Value { return s.x.secret(key) }
func (secretsOf) Set(string, goja.Value) bool { return false }
func (secretsOf) Has(string) bool             { return true }
func (secretsOf) Delete(string) bool          { return false }
func (secretsOf) Keys() []string              { return nil }
