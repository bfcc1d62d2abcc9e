package expression_test

var exprNames = []example{
	{"inputs", "inputs.amount"}, {"variables", "variables.order.lines[0].sku"}, {"variables", "variables.nothing?.by"},
	{"secrets", "len(secrets.KEY)"}, {"lastResult", "lastResult"}, {"instanceId", "instanceId"}, {"correlationId", "correlationId"},
	{"definitionId", "definitionId"}, {"version", "version"}, {"name", "name"},
}

var exprOperators = []example{
	{"+ - * /", "inputs.amount / 4 + 1"}, {"%", "inputs.amount % 7"}, {"**", "2 ** 10"}, {"+", `"Order " + inputs.orderId`},
	{"== !=", `inputs.orderId == "A-1"`}, {"< <= > >=", "inputs.amount >= 1000"}, {"and or not", "inputs.formal and not (inputs.amount > 2000)"},
	{"&& || !", "!inputs.formal || true"}, {"? :", `inputs.formal ? "Dear" : "Hi"`}, {"if else", `if inputs.amount > 1000 { "large" } else { "small" }`},
	{"??", `variables.nothing ?? "none"`}, {"?.", "variables.nothing?.by"}, {"[ ]", "inputs.tags[0]"}, {"[-1]", "inputs.tags[-1]"},
	{"[a:b]", "inputs.tags[0:2]"}, {"in", `"a" in inputs.tags`}, {"in", `"id" in variables.order`}, {"contains", `variables.note contains "World"`},
	{"startsWith", `inputs.orderId startsWith "A"`}, {"endsWith", `inputs.orderId endsWith "1"`}, {"matches", `inputs.orderId matches "^A-\\d+$"`},
	{"..", "1..3"}, {"|", "inputs.tags | uniq() | join(\", \")"}, {"let", "let tax = inputs.amount / 10; inputs.amount + tax"},
	{"[…]", "[1, inputs.amount]"}, {"{…}", "{id: inputs.orderId, \"a-b\": 1}"},
}

var exprFunctions = []example{
	{"abs", "abs(-3)"}, {"all", "all(inputs.numbers, # > 0)"}, {"any", "any(inputs.numbers, # > 2)"}, {"none", "none(inputs.numbers, # > 9)"}, {"one", "one(inputs.numbers, # == 3)"},
	{"bitand", "bitand(6, 3)"}, {"bitnand", "bitnand(6, 3)"}, {"bitnot", "bitnot(6)"}, {"bitor", "bitor(6, 3)"}, {"bitshl", "bitshl(1, 4)"}, {"bitshr", "bitshr(16, 2)"}, {"bitushr", "bitushr(16, 2)"}, {"bitxor", "bitxor(6, 3)"},
	{"ceil", "ceil(1.2)"}, {"floor", "floor(1.8)"}, {"round", "round(1.5)"},
	{"concat", "concat(inputs.tags, [\"z\"])"}, {"count", "count(inputs.tags, # == \"b\")"}, {"sum", "sum(variables.order.lines, .price)"},
	{"date", `date("2026-01-31").Year()`}, {"date", `date("31.01.2026 08:00", "02.01.2006 15:04", "Europe/Berlin").UTC().Hour()`}, {"date", `date("2026-01-31") + duration("24h")`}, {"duration", `string(duration("90m"))`}, {"timezone", `timezone("Europe/Berlin").String()`}, {"now", "now().Year()"},
	{"filter", "filter(variables.order.lines, .price > 5)"}, {"map", "map(variables.order.lines, .sku)"}, {"reduce", "reduce(inputs.numbers, #acc + #, 0)"},
	{"find", "find(inputs.numbers, # < 3)"}, {"findIndex", "findIndex(inputs.numbers, # < 3)"}, {"findLast", "findLast(inputs.numbers, # < 3)"}, {"findLastIndex", "findLastIndex(inputs.numbers, # < 3)"},
	{"first", "first(inputs.tags)"}, {"last", "last(inputs.tags)"}, {"take", "take(inputs.tags, 2)"}, {"get", `get(variables.order, "id")`}, {"len", "len(inputs.tags)"},
	{"flatten", "flatten([[1, 2], [3]])"}, {"reverse", "reverse(inputs.numbers)"}, {"sort", `sort(inputs.numbers, "desc")`}, {"sortBy", "map(sortBy(variables.order.lines, .price), .sku)"},
	{"groupBy", `len(groupBy(variables.order.lines, .price > 5))`}, {"uniq", "uniq(inputs.tags)"},
	{"keys", "sort(keys(variables.order))"}, {"values", "values({a: 1})"}, {"toPairs", "toPairs({a: 1})"}, {"fromPairs", `fromPairs([["a", 1]])`},
	{"max", "max(inputs.numbers)"}, {"min", "min(inputs.numbers)"}, {"mean", "mean(inputs.numbers)"}, {"median", "median(inputs.numbers)"},
	{"float", `float("1.5")`}, {"int", `int("12")`}, {"string", "string(inputs.amount)"}, {"type", "type(inputs.tags)"},
	{"fromBase64", `fromBase64("aGk=")`}, {"toBase64", `toBase64("hi")`}, {"fromJSON", `fromJSON("[1, 2]")`}, {"toJSON", "toJSON([1, 2])"},
	{"hasPrefix", `hasPrefix(inputs.orderId, "A")`}, {"hasSuffix", `hasSuffix(inputs.orderId, "1")`}, {"indexOf", `indexOf("banana", "a")`}, {"lastIndexOf", `lastIndexOf("banana", "a")`},
	{"join", `join(inputs.tags, "-")`}, {"split", `split("a,b", ",")`}, {"splitAfter", `splitAfter("a,b", ",")`}, {"repeat", `repeat("ab", 3)`}, {"replace", `replace("banana", "an", "-")`},
	{"lower", "lower(inputs.orderId)"}, {"upper", `upper("abc")`}, {"trim", "trim(variables.note)"}, {"trimPrefix", `trimPrefix(inputs.orderId, "A-")`}, {"trimSuffix", `trimSuffix(inputs.orderId, "-1")`},
	{"newId", "len(newId()) > 0"}, {"outputs", `outputs("fetch", "statusCode")`}, {"outputs", `outputs("fetch").statusCode`}, {"resumeUrl", `resumeUrl("decision", "approve", "72h")`},
}

var jsNames = []example{
	{"inputs", "inputs.amount * 2"}, {"variables", "variables.order.lines.map(l => l.sku)"}, {"secrets", "secrets.KEY.length"}, {"getX()", "getTotal() + 1"}, {"setX()", "setTotal(42); getTotal()"},
	{"getResultFromX()", "getResultFromFetch()"}, {"return", "if (inputs.formal) { return 'Dear' } return 'Hi'"},
	{"TimeSpan: FromDays, FromHours, FromMinutes, FromSeconds, FromMilliseconds, FromTicks, Zero", "TimeSpan.FromSeconds(90)"}, {"of one: TotalDays to TotalMilliseconds, Days to Milliseconds", "TimeSpan.FromSeconds(90).TotalMinutes"},
	{"DateTime, DateTimeOffset: UtcNow, Now (a Date, in UTC)", "DateTime.UtcNow.getTime() === Date.now()"}, {"Guid: NewGuid, Parse, Empty", "Guid.NewGuid().length"},
	{"LogPersistenceMode, WorkflowStatus, WorkflowSubStatus, ActivityStatus: their names", "WorkflowSubStatus.Faulted"},
}

var jsFunctions = []example{
	{"bytesFromBase64", "bytesFromBase64('aGk=')"}, {"bytesFromString", "bytesFromString('hi')"}, {"bytesToBase64", "bytesToBase64([104, 105])"}, {"bytesToHexString", "bytesToHexString([104, 105])"}, {"bytesToString", "bytesToString([104, 105])"},
	{"streamToBase64", "streamToBase64('hi')"}, {"streamToBytes", "streamToBytes('hi')"}, {"stringFromBase64", "stringFromBase64('aGk=')"}, {"stringToBase64", "stringToBase64('hi')"},
	{"fromJson", "fromJson('[1, 2]')"}, {"parseJson", "parseJson('{\"a\": 1}').a"}, {"toJson", "toJson([1, 2])"},
	{"getCorrelationId", "getCorrelationId()"}, {"setCorrelationId", "setCorrelationId('B-2'); getCorrelationId()"},
	{"getInput", "getInput('orderId')"}, {"getLastResult", "getLastResult()"}, {"getOutputFrom", "getOutputFrom('fetch', 'statusCode')"}, {"getSecret", "getSecret('KEY').length"},
	{"getVariable", "getVariable('total')"}, {"setVariable", "setVariable('total', 42); variables.total"},
	{"setOutcome", "setOutcome('Large')"}, {"setOutcomes", "setOutcomes('Large', 'Urgent')"}, {"setOutput", "setOutput('sum', 3)"},
	{"getShortGuid", "getShortGuid().length"}, {"newGuid", "newGuid().length"}, {"newGuidString", "newGuidString().length"}, {"getGuidString", "getGuidString().length"}, {"newShortGuid", "newShortGuid().length"}, {"parseGuid", "parseGuid('{0193b0c4-7a0e-7000-8000-000000000000}')"},
	{"getWorkflowDefinitionId", "getWorkflowDefinitionId()"}, {"getWorkflowDefinitionVersion", "getWorkflowDefinitionVersion()"}, {"getWorkflowDefinitionVersionId", "getWorkflowDefinitionVersionId()"}, {"getWorkflowInstanceId", "getWorkflowInstanceId()"},
	{"getWorkflowInstanceName", "getWorkflowInstanceName()"}, {"setWorkflowInstanceName", "setWorkflowInstanceName('B'); getWorkflowInstanceName()"},
	{"isNullOrEmpty", "isNullOrEmpty('')"}, {"isNullOrWhiteSpace", "isNullOrWhiteSpace(' ')"}, {"resumeUrl", "resumeUrl('decision', 'approve', '72h')"},
}

var liquidNames = []example{
	{"inputs, Input", "{{ inputs.orderId }} {{ Input.orderId }}"}, {"variables, Variables", "{{ variables.order.id }} {{ Variables.total }}"}, {"secrets", "{{ secrets.KEY | size }}"},
	{"lastResult", "{{ lastResult }}"}, {"instanceId", "{{ instanceId }}"}, {"correlationId", "{{ correlationId }}"}, {"definitionId, version", "{{ definitionId }} {{ version }}"}, {"name", "{{ name }}"},
	{"now", "{{ now | date: '%Y' }}"}, {"if", "{% if inputs.amount > 1000 and inputs.formal %}large{% else %}small{% endif %}"}, {"unless", "{% unless inputs.formal %}hi{% endunless %}"},
	{"case", "{% case inputs.orderId %}{% when 'A-1' %}first{% else %}other{% endcase %}"}, {"for", "{% for t in inputs.tags limit: 2 %}{{ forloop.index }}{{ t }} {% endfor %}"},
	{"assign", "{% assign n = inputs.amount | plus: 1 %}{{ n }}"}, {"capture", "{% capture c %}a{% endcapture %}{{ c }}{{ c }}"}, {"raw", "{% raw %}{{ as it is }}{% endraw %}"}, {"comment", "a{% comment %}b{% endcomment %}"},
	{"increment, decrement", "{% increment i %}{% increment i %}"}, {"cycle", "{% for t in inputs.tags %}{% cycle 'a', 'b' %}{% endfor %}"}, {"echo", "{% echo inputs.orderId %}"}, {"liquid", "{% liquid echo inputs.orderId %}"}, {"#", "a{% # a note %}"},
	{"tablerow", "{% tablerow t in inputs.tags cols: 2 %}{{ t }}{% endtablerow %}"}, {"empty, blank", "{% if inputs.tags == empty %}none{% else %}some{% endif %}"},
}

var liquidFilters = []example{
	{"abs", "{{ -3 | abs }}"}, {"append", "{{ 'a' | append: 'b' }}"}, {"prepend", "{{ 'a' | prepend: 'b' }}"}, {"capitalize", "{{ 'abc' | capitalize }}"}, {"ceil", "{{ 1.2 | ceil }}"}, {"floor", "{{ 1.8 | floor }}"}, {"round", "{{ 1.234 | round: 2 }}"},
	{"compact", "{{ inputs.tags | compact | join: ',' }}"}, {"concat", "{{ inputs.tags | concat: inputs.numbers | join: ',' }}"}, {"date", "{{ '2026-01-31' | date: '%d.%m.%Y' }}"}, {"default", "{{ variables.nothing | default: 'none' }}"},
	{"divided_by", "{{ 7 | divided_by: 2 }}"}, {"times", "{{ 7 | times: 2 }}"}, {"plus", "{{ 7 | plus: 2 }}"}, {"minus", "{{ 7 | minus: 2 }}"}, {"modulo", "{{ 7 | modulo: 2 }}"},
	{"downcase", "{{ 'ABC' | downcase }}"}, {"upcase", "{{ 'abc' | upcase }}"}, {"escape", "{{ '<a>' | escape }}"}, {"escape_once", "{{ '&lt;a>' | escape_once }}"},
	{"first", "{{ inputs.tags | first }}"}, {"last", "{{ inputs.tags | last }}"}, {"inspect", "{{ inputs.tags | inspect }}"}, {"json", "{{ inputs.tags | json }}"}, {"join", "{{ inputs.tags | join: ', ' }}"},
	{"lstrip", "{{ ' a' | lstrip }}"}, {"rstrip", "{{ 'a ' | rstrip }}"}, {"strip", "{{ ' a ' | strip }}"}, {"map", "{{ variables.order.lines | map: 'sku' | join: ',' }}"},
	{"newline_to_br", "{{ 'a' | newline_to_br }}"}, {"remove", "{{ 'banana' | remove: 'an' }}"}, {"remove_first", "{{ 'banana' | remove_first: 'an' }}"}, {"replace", "{{ 'banana' | replace: 'an', '-' }}"}, {"replace_first", "{{ 'banana' | replace_first: 'an', '-' }}"},
	{"reverse", "{{ inputs.numbers | reverse | join: ',' }}"}, {"size", "{{ inputs.tags | size }}"}, {"slice", "{{ 'banana' | slice: 1, 3 }}"}, {"sort", "{{ inputs.numbers | sort | join: ',' }}"}, {"sort_natural", "{{ inputs.tags | sort_natural | join: ',' }}"}, {"split", "{{ 'a,b' | split: ',' | last }}"},
	{"strip_html", "{{ '<b>a</b>' | strip_html }}"}, {"strip_newlines", "{{ 'a' | strip_newlines }}"}, {"truncate", "{{ 'a long text' | truncate: 6 }}"}, {"truncatewords", "{{ 'a long text' | truncatewords: 2 }}"},
	{"type", "{{ inputs.orderId | type }}"}, {"uniq", "{{ inputs.tags | uniq | join: ',' }}"}, {"url_decode", "{{ 'a%20b' | url_decode }}"}, {"url_encode", "{{ 'a b' | url_encode }}"},
	{"at_least", "{{ 2 | at_least: 3 }}"}, {"at_most", "{{ 5 | at_most: 3 }}"}, {"base64_encode", "{{ 'abc' | base64_encode }}"}, {"base64_decode", "{{ 'YWJj' | base64_decode }}"}, {"base64_url_safe_encode", "{{ 'a?b>c~' | base64_url_safe_encode }}"}, {"base64_url_safe_decode", "{{ 'YT9iPmN-' | base64_url_safe_decode }}"},
	{"remove_last", "{{ 'banana' | remove_last: 'an' }}"}, {"replace_last", "{{ 'banana' | replace_last: 'an', '-' }}"}, {"sum", "{{ inputs.numbers | sum }}"}, {"time_zone", "{{ '2026-07-01T12:00:00Z' | time_zone: 'Europe/Berlin' | date: '%H:%M %z' }}"},
	{"where", "{{ variables.order.lines | where: 'sku', 'y' | map: 'sku' | join: ',' }}"}, {"reject", "{{ variables.order.lines | reject: 'sku', 'y' | map: 'sku' | join: ',' }}"}, {"find", "{% assign l = variables.order.lines | find: 'sku', 'y' %}{{ l.sku }}"},
	{"find_index", "{{ variables.order.lines | find_index: 'sku', 'y' }}"}, {"has", "{{ variables.order.lines | has: 'sku', 'y' }}"},
	{"base64", "{{ variables.order | base64 | size }}"}, {"keys", "{{ variables.order | keys | join: ',' }}"}, {"handle", "{{ 'Zwei Wörter!' | handle }}"}, {"handleize", "{{ 'A & B' | handleize }}"}, {"raw", "{{ '<a>' | raw }}"},
	{"md5", "{{ 'a' | md5 }}"}, {"sha1", "{{ 'a' | sha1 }}"}, {"sha256", "{{ 'a' | sha256 | size }}"}, {"hmac_sha1", "{{ 'a' | hmac_sha1: 'key' }}"}, {"hmac_sha256", "{{ 'a' | hmac_sha256: 'key' | size }}"},
	{"format_string", "{{ '{0} of {1}' | format_string: 1, inputs.numbers.size }}"},
	{"format_date", "{{ '2026-01-31T08:05:00Z' | format_date: 'dd.MM.yyyy HH:mm' }}"}, {"format_number", "{{ 1234.5 | format_number: 'N2' }}"},
}
