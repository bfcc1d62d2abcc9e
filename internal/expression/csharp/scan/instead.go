package scan

import "github.com/weft-run/weft/pkg/workflow"

// Beyond are words that begin what is not translated, with what to write instead.
var Beyond = map[string]string{
	"try": "let it become an incident, or ask first, as with int.TryParse", "class": "write an anonymous object, new { … }", "record": "write an anonymous object, new { … }",
	"struct": "write an anonymous object, new { … }", "enum": "write texts", "interface": "write what it does", "using": "leave it out", "lock": "a script runs alone; leave it out", "goto": "write a loop",
	"await": "a script waits for nothing; leave it out, or use an activity", "async": "a script waits for nothing", "public": "a script has no members; write a local variable", "static": "a script has no members",
	"private": "a script has no members", "yield": "make a list and add to it", "checked": "numbers overflow as they do unchecked; leave it out", "unchecked": "it is so anyway; leave it out", "unsafe": "leave it out",
	"from": "there is no LINQ; write a foreach", "delegate": "write the statements where they are needed", "fixed": "leave it out", "namespace": "leave it out",
}

// Instead says what to write for a name that nothing has.
func Instead(name string) string {
	switch name {
	case "typeof", "nameof", "sizeof":
		return "write its value as a text"
	case "JsonSerializer", "JsonNode", "JsonObject", "JsonDocument", "JsonArray", "JsonElement":
		return "use toJson(x) or parseJson(x) in JavaScript, or new { … } and dynamic"
	case "Enumerable":
		return "there is no LINQ; write a for"
	case "HttpClient", "WebClient":
		return "use the activity SendHttpRequest"
	case "Console":
		return "use the activity WriteLine"
	case "Task", "Thread":
		return "a script waits for nothing; use the activity Delay"
	case "Random":
		return "use Math.random() in JavaScript"
	case "Args", "Arguments":
		return "use JavaScript"
	case "Regex":
		return "use a regular expression in JavaScript"
	case "StringBuilder":
		return "join texts with +="
	}
	return "declare it, or write Variable." + workflow.Shorten(name) + " for a variable"
}
