package layers

const module = "github.com/weft-run/weft"

// place is where a package stands.
type place struct {
	floor int
	// may holds the siblings that it may import all the same, and why.
	may map[string]string
}

// table has every package of the project, also those that are only planned.
var table = map[string]place{
	"cmd/node":          {floor: 7},
	"test/e2e":          {floor: 7},
	"test/conformance":  {floor: 7},
	"test/compose":      {floor: 7},
	"test/loadbalancer": {floor: 7},
	"test/upgrade":      {floor: 7},
	"test/chaos":        {floor: 7},
	"test/mutants":      {floor: 7},
	"test/docs":         {floor: 7},
	"bench":             {floor: 7},
	"internal/layers":   {floor: 7},
	"examples/embed":    {floor: 7},

	"pkg/node": {floor: 6},

	"pkg/httpapi": {floor: 5},

	"pkg/runtime": {floor: 4},
	"pkg/refresh": {floor: 4},

	"pkg/client": {floor: 3},

	"pkg/catalog": {floor: 2},

	"pkg/cluster": {floor: 1},
	"pkg/cluster/clustertest": {floor: 1, may: map[string]string{
		"pkg/cluster/groupcommit": "it puts it in front of every test on demand",
	}},
	"pkg/cluster/groupcommit": {floor: 1},
	"pkg/store":               {floor: 1},
	"pkg/store/etcdstore":     {floor: 1},
	"pkg/engine":              {floor: 1},
	"pkg/activities": {floor: 1, may: map[string]string{
		"pkg/engine": "an activity is written against the engine's contract",
	}},
	"pkg/expression": {floor: 1, may: map[string]string{
		"pkg/engine": "an evaluator fills the engine's seam",
	}},
	"pkg/expression/js":     {floor: 1, may: language},
	"pkg/expression/native": {floor: 1, may: language},
	"pkg/expression/liquid": {floor: 1, may: language},
	"pkg/expression/turns": {floor: 1, may: map[string]string{
		"pkg/expression/evaluation": "whose time is over gets the error that all languages have for it",
	}},
	"pkg/expression/evaluation": {floor: 1, may: map[string]string{
		"pkg/engine": "limits and scopes are the engine's",
	}},
	"pkg/expression/expressiontest": {floor: 1, may: map[string]string{
		"pkg/engine":                "it is a scope",
		"pkg/expression/evaluation": "what comes out of a language is a clean value, or its error",
	}},
	"pkg/workflowtest": {floor: 1, may: map[string]string{
		"pkg/engine":     "it runs workflows in the engine, without a node",
		"pkg/activities": "what a test does not mock runs as it is",
		"pkg/expression": "expressions run as they are",
	}},

	"pkg/workflow":          {floor: 0},
	"pkg/workflow/yaml":     {floor: 0},
	"pkg/workflow/elsajson": {floor: 0},
	"pkg/metrics":           {floor: 0},
	"pkg/tracing":           {floor: 0},
	"pkg/secrets":           {floor: 0},
	"pkg/auth":              {floor: 0},
	"pkg/auth/authtest":     {floor: 0},
	"internal/heapfloor":    {floor: 0},
	"internal/keylock":      {floor: 0},
}

// language is what a language of expressions may import; none knows another.
var language = map[string]string{
	"pkg/engine":                "an evaluator fills the engine's seam",
	"pkg/expression/evaluation": "values, errors and limits are the same in all",
	"pkg/expression/turns":      "all take turns with each other",
}

// testHelpers may be imported by every test, also by one inside a package.
var testHelpers = map[string]string{
	"pkg/auth/authtest":       "it is a provider of tokens and knows nothing of this project",
	"pkg/cluster/clustertest": "it starts etcd and knows nothing above pkg/cluster",

	"pkg/expression/expressiontest": "it knows what an evaluator is, and no language",
}

// library says who may import the packages at and below prefix. An owner's
// sub-packages own them too.
type library struct {
	prefix string
	owners []string
	why    string
}

// libraries is searched in order: the first prefix that fits decides.
var libraries = []library{
	{
		prefix: "go.etcd.io/etcd/client/v3/concurrency",
		owners: []string{"pkg/cluster", "test/e2e", "bench"},
		why:    "an etcd mutex is re-entrant within a session and its unlock proves nothing; pkg/cluster knows, and everybody else asks it",
	},
	{
		prefix: "go.etcd.io/etcd",
		owners: []string{"pkg/cluster", "pkg/store", "pkg/node", "test/e2e", "bench"},
		why:    "keys and transactions are the business of pkg/cluster and pkg/store; pkg/node dials",
	},
	{
		prefix: "github.com/dop251/goja",
		owners: []string{"pkg/expression/js"},
		why:    "scripts run in the sandbox of pkg/expression/js and nowhere else",
	},
	{
		prefix: "github.com/expr-lang/expr",
		owners: []string{"pkg/expression/native"},
		why:    "${{ }} is evaluated within bounds, in pkg/expression/native and nowhere else",
	},
	{
		prefix: "github.com/osteele/liquid",
		owners: []string{"pkg/expression/liquid"},
		why:    "templates are rendered within bounds, in pkg/expression/liquid and nowhere else",
	},
	{
		prefix: "github.com/sethvargo/go-retry",
		owners: []string{"pkg/client", "pkg/cluster", "pkg/activities", "pkg/node"},
		why:    "only taking a lock is retried, joining the cluster, and what an activity sends outside; work that began is repeated after a fresh load",
	},
	{
		prefix: "github.com/prometheus/client_golang/prometheus/promauto",
		owners: nil,
		why:    "it registers with a global; the registry is injected",
	},
	{
		prefix: "github.com/prometheus/client_golang",
		owners: []string{"pkg/metrics", "pkg/node", "pkg/httpapi", "test/e2e", "bench"},
		why:    "callers say what happened through pkg/metrics; pkg/node owns the registry and pkg/httpapi serves it",
	},
	{
		prefix: "go.opentelemetry.io",
		owners: []string{"pkg/tracing", "pkg/node"},
		why:    "callers say what happened through pkg/tracing; pkg/node takes the provider of the program that it is part of",
	},
}

// collectors are the functions of the prometheus package that declare a metric.
// Only pkg/metrics calls them, so that every name and label is in one place.
var collectors = map[string]bool{
	"NewCounter": true, "NewCounterVec": true, "NewCounterFunc": true,
	"NewGauge": true, "NewGaugeVec": true, "NewGaugeFunc": true,
	"NewHistogram": true, "NewHistogramVec": true,
	"NewSummary": true, "NewSummaryVec": true,
	"NewUntypedFunc": true, "NewDesc": true,
	"MustNewConstMetric": true, "NewConstMetric": true,
}

// emptyNames say nothing about what is inside.
var emptyNames = map[string]bool{
	"util": true, "utils": true, "common": true, "helper": true, "helpers": true,
	"manager": true, "managers": true, "types": true, "base": true,
	"misc": true, "shared": true, "impl": true,
}
