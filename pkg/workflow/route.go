package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The bounds of a route's template. They bound how many shapes there can be, and so
// what a request costs at most.
const (
	MaxRouteSegments   = 16
	MaxRouteParameters = 4
)

// CheckRouteSize tells whether a template, such as orders/{id}, keeps within the
// bounds.
func CheckRouteSize(template string) error {
	shape := RouteShape(RoutePattern(template))
	if n := len(shape); n > MaxRouteSegments {
		return fmt.Errorf("the path %q has %d segments; at most %d are possible", template, n, MaxRouteSegments)
	}
	if n := len(shape) - strings.Count(shape, "l"); n > MaxRouteParameters {
		return fmt.Errorf("the path %q has %d parameters; at most %d are possible", template, n, MaxRouteParameters)
	}
	return nil
}

// RoutePattern is a route's template without the names of its parameters, in lower
// case: two templates with one pattern match the same paths.
func RoutePattern(template string) string {
	segments := strings.Split(strings.ToLower(strings.Trim(template, "/")), "/")
	for i, seg := range segments {
		switch {
		case strings.HasPrefix(seg, "{*"):
			segments[i] = "{*}"
		case strings.HasPrefix(seg, "{"):
			segments[i] = "{}"
		}
	}
	return strings.Join(segments, "/")
}

// RouteShape is a pattern without its texts, a letter for each segment: l for a
// text, p for a parameter, r for the rest of the path. However many instances wait,
// each at a path of its own, their templates have few shapes.
func RouteShape(pattern string) string {
	segments := strings.Split(pattern, "/")
	shape := make([]byte, len(segments))
	for i, seg := range segments {
		switch seg {
		case "{}":
			shape[i] = 'p'
		case "{*}":
			shape[i] = 'r'
		default:
			shape[i] = 'l'
		}
	}
	return string(shape)
}

// RouteSegments is how many segments a path has.
func RouteSegments(path string) int { return strings.Count(strings.Trim(path, "/"), "/") + 1 }

// RoutePatterns gives the patterns of these shapes that match a path, in the order
// of precedence: the most texts first; then at the first segment where two differ a
// text before a parameter, and that before the rest of the path.
func RoutePatterns(shapes []string, path string) []string {
	segments := strings.Split(strings.ToLower(strings.Trim(path, "/")), "/")
	fits := slices.DeleteFunc(slices.Clone(shapes), func(shape string) bool { return !shapeFits(shape, segments) })
	slices.SortFunc(fits, func(a, b string) int {
		return cmp.Or(strings.Count(b, "l")-strings.Count(a, "l"), strings.Compare(a, b))
	})
	patterns := make([]string, len(fits))
	for i, shape := range fits {
		parts := make([]string, len(shape))
		for j := range parts {
			switch shape[j] {
			case 'p':
				parts[j] = "{}"
			case 'r':
				parts[j] = "{*}"
			default:
				parts[j] = segments[j]
			}
		}
		patterns[i] = strings.Join(parts, "/")
	}
	return patterns
}

// shapeFits tells whether a template of this shape may match a path. A template has no
// text that begins with a brace, so such a segment is no text: as one it would name the
// pattern of a parameter, before its turn.
func shapeFits(shape string, segments []string) bool {
	before, greedy := strings.CutSuffix(shape, "r")
	if len(before) > len(segments) || !greedy && len(before) != len(segments) {
		return false
	}
	for i := range before {
		if before[i] == 'l' && strings.HasPrefix(segments[i], "{") {
			return false
		}
	}
	return true
}
