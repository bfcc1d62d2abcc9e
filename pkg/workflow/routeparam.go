package workflow

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// RouteParameter is one segment of a route's template that stands for a value, such
// as {id}, {nr:int}, {code:alpha:length(2,4)} or {*rest}.
type RouteParameter struct {
	Name string
	Rest bool // it takes the rest of the path

	limits []routeLimit
}

// routeLimit is a constraint with its numbers, in ASP.NET's notation.
type routeLimit struct {
	kind string
	args []int64
}

// routeKinds are the constraints that there are, with how many numbers each may
// have.
var routeKinds = map[string][]int{
	"int": {0}, "long": {0}, "bool": {0}, "guid": {0}, "alpha": {0}, "required": {0},
	"min": {1}, "max": {1}, "range": {2}, "length": {1, 2}, "minlength": {1}, "maxlength": {1},
}

// ParseRouteParameter reads a segment that begins with a brace.
func ParseRouteParameter(segment string) (RouteParameter, error) {
	var p RouteParameter
	text, opened := strings.CutPrefix(segment, "{")
	text, closed := strings.CutSuffix(text, "}")
	name, limits, limited := strings.Cut(text, ":")
	name, p.Rest = strings.CutPrefix(name, "*")
	p.Name = strings.TrimPrefix(name, "*")
	switch {
	case !opened || !closed || p.Name == "" || strings.ContainsAny(text, "{}") || strings.Contains(p.Name, "*"):
		return p, fmt.Errorf("the parameter %q is not closed or has no name", segment)
	case strings.ContainsAny(text, "?="):
		return p, fmt.Errorf("the parameter %q is optional or has a default, which is not possible; use an endpoint for each path", segment)
	case !limited:
		return p, nil
	}
	for _, text := range strings.Split(limits, ":") {
		l, err := parseRouteLimit(text)
		if err != nil {
			return p, fmt.Errorf("the parameter %q: %w", segment, err)
		}
		p.limits = append(p.limits, l)
	}
	return p, nil
}

func parseRouteLimit(text string) (routeLimit, error) {
	kind, rest, has := strings.Cut(text, "(")
	l := routeLimit{kind: strings.ToLower(kind)}
	counts, known := routeKinds[l.kind]
	if !known {
		return l, fmt.Errorf("there is no constraint %q; there are int, long, bool, guid, alpha, required, min, max, range, length, minlength, maxlength", kind)
	}
	rest, closed := strings.CutSuffix(rest, ")")
	if has {
		for _, arg := range strings.Split(rest, ",") {
			n, err := strconv.ParseInt(strings.TrimSpace(arg), 10, 64)
			if err != nil {
				return l, fmt.Errorf("the constraint %q wants whole numbers, not %q", text, arg)
			}
			l.args = append(l.args, n)
		}
	}
	if has != closed || !slices.Contains(counts, len(l.args)) {
		return l, fmt.Errorf("the constraint %q is not closed, or does not have as many numbers as %s wants", text, l.kind)
	}
	return l, nil
}

var (
	guidForm  = regexp.MustCompile(`^(?i:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}|\([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\))$`)
	alphaForm = regexp.MustCompile(`^[A-Za-z]*$`)
)

func (l routeLimit) allows(value string) bool {
	number, err := strconv.ParseInt(value, 10, 64)
	length := int64(utf8.RuneCountInString(value))
	switch l.kind {
	case "int":
		return err == nil && int64(int32(number)) == number
	case "long":
		return err == nil
	case "bool":
		return strings.EqualFold(value, "true") || strings.EqualFold(value, "false")
	case "guid":
		return guidForm.MatchString(value)
	case "alpha":
		return alphaForm.MatchString(value)
	case "required":
		return value != ""
	case "min":
		return err == nil && number >= l.args[0]
	case "max":
		return err == nil && number <= l.args[0]
	case "range":
		return err == nil && number >= l.args[0] && number <= l.args[1]
	case "minlength":
		return length >= l.args[0]
	case "maxlength":
		return length <= l.args[0]
	}
	return length >= l.args[0] && length <= l.args[len(l.args)-1] // length
}

// RouteData gives the values that a path has for the parameters of a template; the
// path must match the template's pattern. False: a constraint refuses one of them.
func RouteData(template, path string) (map[string]any, bool) {
	values := map[string]any{}
	segments := strings.Split(strings.Trim(path, "/"), "/")
	for i, part := range strings.Split(strings.Trim(template, "/"), "/") {
		if !strings.HasPrefix(part, "{") {
			continue
		}
		p, err := ParseRouteParameter(part)
		if err != nil || i >= len(segments) && !p.Rest {
			return nil, false
		}
		value := strings.Join(segments[min(i, len(segments)):], "/")
		if !p.Rest {
			value = segments[i]
		}
		if slices.ContainsFunc(p.limits, func(l routeLimit) bool { return !l.allows(value) }) {
			return nil, false
		}
		values[p.Name] = value
	}
	return values, true
}
