package liquid

import (
	"regexp"

	"github.com/weft-run/weft/internal/expression/evaluation"
)

// liquidNamed finds secrets by name in what a template evaluates.
var (
	liquidCode  = regexp.MustCompile(`(?s)\{\{.*?\}\}|\{%.*?%\}`)
	liquidNamed = regexp.MustCompile(`(?:^|[^.\w-])secrets(?:\.([A-Za-z_][A-Za-z0-9_-]*)|\s*\[\s*["']([A-Za-z0-9._-]+)["'])`)
)

// templateSecrets gives the names of secrets that a Liquid template reads.
func templateSecrets(source string) []string {
	var names []string
	for _, code := range liquidCode.FindAllString(source, -1) {
		names = evaluation.SecretNames(liquidNamed, code, names)
	}
	return names
}
