package names

import (
	"slices"
	"strconv"
	"strings"
)

// aliases are Elsa's short names of types, by their lower-case form.
var aliases = byLower("Object", "String", "Boolean", "Byte", "Int16", "Int32", "Int64", "Single", "Double", "Decimal",
	"DateTime", "DateTimeOffset", "DateOnly", "TimeOnly", "TimeSpan", "Guid", "Uri", "ExpandoObject",
	"IDictionary<String, Object>", "Stream", "JsonElement", "JsonNode", "JsonObject", "JsonArray")

func byLower(names ...string) map[string]string {
	m := make(map[string]string, len(names))
	for _, n := range names {
		m[strings.ToLower(n)] = n
	}
	return m
}

// Alias shortens a type name: assembly-qualified .NET names of known types give
// Elsa's alias, other names stay as they are.
func Alias(name string) string {
	full := strings.TrimSpace(name)
	if inner, ok := strings.CutPrefix(full, "System.Nullable`1[["); ok {
		full, _, _ = strings.Cut(inner, "]]")
	}
	if collection := generic(full); collection != "" {
		return collection
	}
	short := full
	if !strings.ContainsAny(full, "<`") { // a comma inside a generic name separates its arguments
		short, _, _ = strings.Cut(full, ",")
	}
	short, list := strings.CutSuffix(strings.TrimSpace(short), "[]")
	if i := strings.LastIndexByte(short, '.'); i >= 0 && strings.HasPrefix(short, "System.") {
		short = short[i+1:]
	}
	short = strings.TrimSuffix(short, "?")
	known, ok := aliases[strings.ToLower(short)]
	switch {
	case !ok:
		return name
	case list:
		return known + "[]"
	}
	return known
}

// collections are the generic collections that Elsa makes values of.
var collections = byLower("IEnumerable", "ICollection", "IList", "IReadOnlyCollection", "IReadOnlyList", "ISet", "List", "HashSet", "Collection")

// generic gives the alias of a collection by its .NET name: List<String> for
// System.Collections.Generic.List`1[[System.String, …]], …, and "" for other names.
func generic(full string) string {
	name, rest, ok := strings.Cut(full, "`1[[")
	end := strings.LastIndex(rest, "]]")
	if !ok || end < 0 || !strings.HasPrefix(name, "System.Collections.") {
		return ""
	}
	if assembly := rest[end+len("]]"):]; assembly != "" && assembly[0] != ',' {
		return "" // a list of them
	}
	known := collections[strings.ToLower(Class(name, ""))]
	if known == "" {
		return ""
	}
	return known + "<" + Alias(rest[:end]) + ">"
}

// Class gives the last part of a .NET type name without its namespace,
// assembly and the given suffix: Singleton for
// Elsa.Workflows.Runtime.ActivationValidators.SingletonStrategy, Elsa.…
func Class(name, suffix string) string {
	name, _, _ = strings.Cut(name, ",")
	name = strings.TrimSpace(name)
	if i := strings.LastIndexAny(name, ".+"); i >= 0 {
		name = name[i+1:]
	}
	if s, ok := strings.CutSuffix(name, suffix); ok && s != "" {
		return s
	}
	return name
}

// OtherMajor tells whether a version of Elsa is of another major version than 3: what the fields of a definition mean there is not known.
func OtherMajor(version string) bool {
	major, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(major)
	return err == nil && n != 3
}

// OwnLogStrategy tells whether the name of a log persistence strategy is that of a class of an application, and not one of Elsa's.
func OwnLogStrategy(name string) bool {
	return strings.ContainsAny(name, ".,") && !slices.Contains([]string{"Include", "Exclude", "Inherit", "Configuration"}, Class(name, "Strategy"))
}

// Driver gives the domain's name of a storage driver: "" for those that keep a
// variable with its instance.
func Driver(name string) string {
	switch Class(name, "StorageDriver") {
	case "", "Workflow", "WorkflowInstance":
		return ""
	case "Memory":
		return "Memory"
	}
	return name
}

// DriverName is Elsa's name of one.
func DriverName(driver string) string {
	if driver == "Memory" {
		return "Elsa.Workflows.MemoryStorageDriver, Elsa.Workflows.Core"
	}
	return driver
}

// Strategies map between the domain's names and Elsa's types; unknown names pass
// unchanged, for the compiler to refuse.
type Strategies []struct{ name, typ string }

// Activations are when an instance may start.
var Activations = Strategies{
	{"Always", "Elsa.Workflows.Runtime.ActivationValidators.AllowAlwaysStrategy, Elsa.Workflows.Runtime"},
	{"Singleton", "Elsa.Workflows.Runtime.ActivationValidators.SingletonStrategy, Elsa.Workflows.Runtime"},
	{"CorrelatedSingleton", "Elsa.Workflows.Runtime.ActivationValidators.CorrelatedSingletonStrategy, Elsa.Workflows.Runtime"},
	{"Correlation", "Elsa.Workflows.Runtime.ActivationValidators.CorrelationStrategy, Elsa.Workflows.Runtime"},
}

// Incidents are what a fault does to its instance.
var Incidents = Strategies{
	{"Fault", "Elsa.Workflows.IncidentStrategies.FaultStrategy, Elsa.Workflows.Core"},
	{"ContinueWithIncidents", "Elsa.Workflows.IncidentStrategies.ContinueWithIncidentsStrategy, Elsa.Workflows.Core"},
}

// Name is the domain's name of one of Elsa's types.
func (table Strategies) Name(typ string) string {
	class := Class(typ, "Strategy")
	for _, s := range table {
		if strings.EqualFold(class, s.name) || strings.EqualFold(class, Class(s.typ, "Strategy")) || strings.EqualFold(class, Class(s.typ, "")) {
			return s.name
		}
	}
	return typ
}

// Type is Elsa's type of a name of the domain.
func (table Strategies) Type(name string) string {
	for _, s := range table {
		if s.name == name {
			return s.typ
		}
	}
	return name
}
