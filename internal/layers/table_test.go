package layers

const module = "github.com/weft-run/weft"

// place is where a package stands.
type place struct {
	floor int
	// wing is the part of the floor that it is in, if it is in one: there it may
	// import what stands on a lower step.
	wing string
	step int
}

// wings says what each one is for. Packages of two wings are strangers, as all
// others of one floor are.
var wings = map[string]string{
	"api":      "what carries a request knows no handler, the shapes of answers are of several handlers, and handlers know nothing of each other",
	"etcd":     "the mutex of a lock calls etcd as all of pkg/cluster does",
	"calls":    "each part of the runtime stands alone, and they share what a call answers; a job gives what one instance is given to many",
	"console":  "what makes a page knows no page, pages know nothing of each other, and what a form asks for is shown on several",
	"catalog":  "when a schedule occurs is known without the catalogue that has it",
	"edit":     "a text knows no activity, an activity nothing of what connects it or holds it, and the edits know all of them",
	"engine":   "what runs one instance, without a node: activities and languages are written against the engine's contract, and tests of workflows run all of them as they are",
	"program":  "go install names a binary after its folder: the program has two names, and is one package; its families of commands share how they ask",
	"store":    "requests know no key, the records that several rooms write know no room, and the store joins them",
	"tests":    "clustertest puts group commit in front of every test on demand",
	"words":    "a label of a metric that is a word of the domain has its type, so that no other word is counted; and what is looked for is said in words of the domain",
	"yaml":     "reading, writing and the schema agree on names, and read one tree; the door has all of them",
	"elsajson": "what an activity and a definition keep of the designer's settings is told by the names that Elsa gives them",
	"waits":    "keys, tokens and secrets come from files and from providers, which are asked again and again",
}

// table has every package of the project, also those that are only planned.
var table = map[string]place{
	"cmd/node":                       {floor: 7, wing: "program", step: 1},
	"cmd/weft":                       {floor: 7, wing: "program", step: 1},
	"internal/people/command":        {floor: 7, wing: "program"},
	"internal/people/command/remote": {floor: 7, wing: "program", step: 1},

	"internal/people/command/ask":                {floor: 7, wing: "program"},
	"internal/people/command/effect":             {floor: 7, wing: "program", step: 1},
	"internal/people/command/waitflag":           {floor: 7, wing: "program", step: 1},
	"internal/people/command/typesflag":          {floor: 7, wing: "program", step: 1},
	"internal/people/command/dev":                {floor: 7, wing: "program", step: 1},
	"internal/people/command/remote/cluster":     {floor: 7, wing: "program", step: 2},
	"internal/people/command/remote/definitions": {floor: 7, wing: "program", step: 2},
	"internal/people/command/remote/events":      {floor: 7, wing: "program", step: 2},
	"internal/people/command/remote/exports":     {floor: 7, wing: "program", step: 1},
	"internal/people/command/remote/here":        {floor: 7, wing: "program", step: 2},
	"internal/people/command/remote/instances":   {floor: 7, wing: "program", step: 2},
	"internal/people/command/remote/worker":      {floor: 7, wing: "program", step: 1},

	"test/e2e":               {floor: 7},
	"test/console":           {floor: 7},
	"test/conformance":       {floor: 7},
	"test/compose":           {floor: 7},
	"test/etcds":             {floor: 7},
	"test/loadbalancer":      {floor: 7},
	"test/upgrade":           {floor: 7},
	"test/chaos":             {floor: 7},
	"test/mutants":           {floor: 7},
	"test/model":             {floor: 7},
	"test/model/promises":    {floor: 7},
	"test/docs":              {floor: 7},
	"test/timings":           {floor: 7},
	"bench":                  {floor: 7},
	"internal/layers":        {floor: 7},
	"examples/embed":         {floor: 7},
	"examples/flow":          {floor: 7},
	"clients":                {floor: 7},
	"clients/worker":         {floor: 1},
	"clients/worker/example": {floor: 7},
	"internal/nodetest":      {floor: 7},

	"pkg/node":      {floor: 6},
	"pkg/node/full": {floor: 6},

	"internal/httpapi":            {floor: 5, wing: "api", step: 5},
	"internal/httpapi/fair":       {floor: 5, wing: "api"},
	"internal/httpapi/strictjson": {floor: 5, wing: "api"},
	"internal/httpapi/schema":     {floor: 5, wing: "api", step: 1},
	"internal/httpapi/wire":       {floor: 5, wing: "api"},
	"internal/httpapi/ledger":     {floor: 5, wing: "api"},
	"internal/httpapi/serve":      {floor: 5, wing: "api", step: 2},
	"internal/httpapi/shape":      {floor: 5, wing: "api", step: 3},
	"internal/httpapi/peers":      {floor: 5, wing: "api", step: 4},
	"internal/httpapi/define":     {floor: 5, wing: "api", step: 5},
	"internal/httpapi/run":        {floor: 5, wing: "api", step: 5},
	"internal/httpapi/elsa":       {floor: 5, wing: "api", step: 5},
	"internal/authoring/api":      {floor: 5, wing: "api", step: 4},
	"internal/httpapi/operate":    {floor: 5, wing: "api", step: 5},
	"internal/httpapi/work":       {floor: 5, wing: "api", step: 5},

	"internal/people/console":             {floor: 5, wing: "console", step: 5},
	"internal/people/console/act":         {floor: 5, wing: "console", step: 4},
	"internal/people/console/cluster":     {floor: 5, wing: "console", step: 3},
	"internal/people/console/definitions": {floor: 5, wing: "console", step: 3},
	"internal/people/console/instances":   {floor: 5, wing: "console", step: 3},
	"internal/people/console/markdown":    {floor: 5, wing: "console", step: 1},
	"internal/people/console/waiting":     {floor: 5, wing: "console", step: 3},
	"internal/people/console/signin":      {floor: 5, wing: "console", step: 3},
	"internal/people/console/shape":       {floor: 5, wing: "console", step: 2},
	"internal/people/console/page":        {floor: 5, wing: "console", step: 1},
	"internal/people/console/session":     {floor: 5, wing: "console"},
	"internal/people/console/differ":      {floor: 5, wing: "console"},

	"internal/upkeep":            {floor: 5},
	"internal/upkeep/retention":  {floor: 4},
	"internal/upkeep/giving":     {floor: 4},
	"internal/upkeep/loop":       {floor: 3},
	"internal/upkeep/membertest": {floor: 5},

	"internal/explain":        {floor: 4},
	"internal/live":           {floor: 4},
	"internal/people/signout": {floor: 4},
	"internal/webhook":        {floor: 4},
	"internal/limits":         {floor: 4},
	"pkg/runtime":             {floor: 4, wing: "calls", step: 3},
	"pkg/runtime/front":       {floor: 4, wing: "calls"},
	"pkg/runtime/people":      {floor: 4, wing: "calls", step: 1},
	"pkg/runtime/commands":    {floor: 4, wing: "calls", step: 1},
	"pkg/runtime/repair":      {floor: 4, wing: "calls", step: 1},
	"pkg/runtime/job":         {floor: 4, wing: "calls", step: 2},
	"pkg/refresh":             {floor: 4},

	"pkg/client":           {floor: 3},
	"pkg/client/admission": {floor: 0},
	"pkg/client/hot":       {floor: 0},
	"pkg/client/warm":      {floor: 2},
	"internal/endpoint":    {floor: 3},

	"internal/authoring/publish": {floor: 3},

	"internal/catalog":          {floor: 2, wing: "catalog", step: 1},
	"internal/catalog/notation": {floor: 1, wing: "engine", step: 1},
	"internal/catalog/schedule": {floor: 2, wing: "catalog"},
	"internal/answers":          {floor: 2},
	"internal/instancefiles":    {floor: 2},
	"internal/tasks":            {floor: 2},
	"internal/etcd":             {floor: 2},
	"internal/inspect":          {floor: 2},
	"internal/intake":           {floor: 2},

	"pkg/cluster":                      {floor: 1},
	"pkg/cluster/groupcommit":          {floor: 1, wing: "tests"},
	"pkg/cluster/members":              {floor: 1},
	"pkg/cluster/call":                 {floor: 1, wing: "etcd"},
	"pkg/cluster/mutex":                {floor: 1, wing: "etcd", step: 1},
	"pkg/cluster/etcdmembers":          {floor: 1},
	"pkg/cluster/clustertest":          {floor: 1, wing: "tests", step: 1},
	"internal/authoring/graph":         {floor: 1},
	"internal/authoring/graph/layout":  {floor: 1},
	"internal/authoring/compare":       {floor: 1},
	"internal/authoring/format":        {floor: 1},
	"internal/authoring/edit":          {floor: 1, wing: "edit", step: 4},
	"internal/authoring/edit/part":     {floor: 1, wing: "edit", step: 3},
	"internal/authoring/edit/flow":     {floor: 1, wing: "edit", step: 2},
	"internal/authoring/edit/activity": {floor: 1, wing: "edit", step: 1},
	"internal/authoring/edit/text":     {floor: 1, wing: "edit"},

	"internal/store":                           {floor: 1},
	"internal/store/etcdstore/cut":             {floor: 1, wing: "store"},
	"internal/store/etcdstore/internal/db":     {floor: 1, wing: "store"},
	"internal/store/etcdstore/internal/record": {floor: 1, wing: "store", step: 1},
	"internal/store/etcdstore/internal/format": {floor: 1, wing: "store", step: 2},
	"internal/store/etcdstore/internal/lookup": {floor: 1, wing: "store", step: 3},
	"internal/store/etcdstore/claims":          {floor: 1, wing: "store", step: 2},
	"internal/store/etcdstore/places":          {floor: 1, wing: "store", step: 2},
	"internal/store/etcdstore/health":          {floor: 1, wing: "store"},
	"internal/store/etcdstore/jobs":            {floor: 1, wing: "store", step: 2},
	"internal/store/etcdstore/signouts":        {floor: 1, wing: "store", step: 2},
	"internal/store/etcdstore/webhooks":        {floor: 1, wing: "store", step: 2},
	"internal/store/etcdstore/definitions":     {floor: 1, wing: "store", step: 4},
	"internal/store/etcdstore/lists":           {floor: 1, wing: "store", step: 4},
	"internal/store/etcdstore/lists/merged":    {floor: 1, wing: "store", step: 2},
	"internal/store/etcdstore/fsck":            {floor: 1, wing: "store", step: 6},
	"internal/store/etcdstore/loading":         {floor: 1, wing: "store", step: 4},
	"internal/store/etcdstore/commits":         {floor: 1, wing: "store", step: 5},
	"internal/store/etcdstore/stimuli":         {floor: 1, wing: "store", step: 4},
	"internal/store/etcdstore/upkeep":          {floor: 1, wing: "store", step: 4},
	"internal/store/etcdstore/trace":           {floor: 1, wing: "store", step: 4},
	"internal/store/etcdstore/balance":         {floor: 1, wing: "store", step: 4},
	"internal/store/etcdstore/contents":        {floor: 1, wing: "store", step: 2},
	"internal/store/etcdstore":                 {floor: 1, wing: "store", step: 7},

	"pkg/engine":                         {floor: 1, wing: "engine"},
	"pkg/activities":                     {floor: 1, wing: "engine", step: 1},
	"pkg/activities/branch":              {floor: 1, wing: "engine", step: 1},
	"pkg/activities/retry":               {floor: 1, wing: "engine", step: 2},
	"pkg/activities/undo":                {floor: 1, wing: "engine", step: 3},
	"pkg/activities/limited":             {floor: 1, wing: "engine", step: 3},
	"pkg/activities/flowchart":           {floor: 1, wing: "engine", step: 2},
	"pkg/activities/declared":            {floor: 1, wing: "engine", step: 3},
	"pkg/activities/taskjournal":         {floor: 1, wing: "engine", step: 2},
	"pkg/activities/asking":              {floor: 1, wing: "engine", step: 2},
	"pkg/activities/web":                 {floor: 1, wing: "engine", step: 3},
	"pkg/activities/mail":                {floor: 1, wing: "engine", step: 3},
	"pkg/activities/sql":                 {floor: 1, wing: "engine", step: 4},
	"pkg/activities/sql/postgres":        {floor: 1, wing: "engine", step: 5},
	"pkg/archive":                        {floor: 1, wing: "engine", step: 5},
	"pkg/activities/sql/sqlite":          {floor: 1, wing: "engine", step: 5},
	"internal/expression/evaluation":     {floor: 1, wing: "engine", step: 1},
	"internal/expression/turns":          {floor: 1, wing: "engine", step: 2},
	"internal/expression/expressiontest": {floor: 1, wing: "engine", step: 2},
	"internal/expression/js":             {floor: 1, wing: "engine", step: 3},
	"internal/expression/js/dotnet":      {floor: 1, wing: "engine", step: 2},
	"internal/expression/js/fdlibm":      {floor: 1, wing: "engine", step: 1},
	"internal/expression/js/pattern":     {floor: 1, wing: "engine", step: 1},
	"internal/expression/js/mend":        {floor: 1, wing: "engine", step: 2},
	"internal/expression/js/exact":       {floor: 1, wing: "engine", step: 2},
	"internal/expression/js/rewrite":     {floor: 1, wing: "engine", step: 2},
	"internal/expression/js/check":       {floor: 1, wing: "engine", step: 3},
	"internal/expression/native":         {floor: 1, wing: "engine", step: 3},
	"internal/expression/native/words":   {floor: 1, wing: "engine", step: 2},
	"internal/expression/native/operate": {floor: 1, wing: "engine", step: 2},
	"internal/expression/liquid":         {floor: 1, wing: "engine", step: 3},
	"internal/expression/liquid/filter":  {floor: 1, wing: "engine", step: 3},
	"internal/expression/liquid/value":   {floor: 1, wing: "engine", step: 2},
	"internal/expression":                {floor: 1, wing: "engine", step: 3},
	"internal/expression/csharp":         {floor: 1, wing: "engine", step: 4},
	"internal/expression/csharp/scan":    {floor: 1, wing: "engine", step: 2},
	"internal/expression/csharp/typed":   {floor: 1, wing: "engine", step: 3},
	"internal/authoring/check":           {floor: 1, wing: "engine", step: 4},
	"internal/authoring/check/dotnet":    {floor: 1, wing: "engine", step: 1},
	"internal/authoring/check/ignored":   {floor: 1, wing: "engine", step: 1},
	"internal/authoring/suggest":         {floor: 1, wing: "engine", step: 4},
	"internal/elsastate":                 {floor: 1, wing: "engine", step: 4},
	"pkg/workflowtest/answers":           {floor: 1, wing: "engine", step: 5},
	"pkg/workflowtest/compare":           {floor: 1, wing: "engine", step: 5},
	"pkg/workflowtest/standin":           {floor: 1, wing: "engine", step: 5},
	"pkg/workflowtest/trial":             {floor: 1, wing: "engine", step: 6},
	"pkg/workflowtest/crash":             {floor: 1, wing: "engine", step: 7},
	"pkg/workflowtest/suite":             {floor: 1, wing: "engine", step: 8},
	"pkg/workflowtest":                   {floor: 1, wing: "engine", step: 9},
	"pkg/workflow/flow":                  {floor: 1, wing: "engine", step: 8},

	"pkg/workflow":                   {floor: 0, wing: "words", step: 1},
	"pkg/workflow/task":              {floor: 0, wing: "words", step: 2},
	"pkg/workflow/usertask":          {floor: 0, wing: "words", step: 3},
	"pkg/workflow/limit":             {floor: 0, wing: "words", step: 2},
	"pkg/workflow/value":             {floor: 0, wing: "words"},
	"pkg/engine/mistakes":            {floor: 0, wing: "words", step: 2},
	"pkg/engine/forms":               {floor: 0, wing: "words", step: 2},
	"pkg/engine/flight":              {floor: 0},
	"pkg/workflow/near":              {floor: 0, wing: "words"},
	"pkg/workflow/resumelink":        {floor: 0},
	"pkg/workflow/files":             {floor: 0, wing: "words"},
	"pkg/workflow/yaml":              {floor: 0, wing: "yaml", step: 3},
	"pkg/workflow/yaml/notation":     {floor: 0, wing: "yaml"},
	"pkg/workflow/yaml/wrap":         {floor: 0, wing: "yaml", step: 1},
	"pkg/workflow/yaml/tree":         {floor: 0, wing: "yaml", step: 1},
	"pkg/workflow/yaml/read":         {floor: 0, wing: "yaml", step: 2},
	"pkg/workflow/yaml/write":        {floor: 0, wing: "yaml", step: 2},
	"pkg/workflow/yaml/schema":       {floor: 0, wing: "yaml", step: 1},
	"pkg/workflow/elsajson":          {floor: 0, wing: "elsajson", step: 2},
	"pkg/workflow/elsajson/custom":   {floor: 0, wing: "elsajson", step: 1},
	"pkg/workflow/elsajson/jsontree": {floor: 0, wing: "elsajson"},
	"pkg/workflow/elsajson/names":    {floor: 0, wing: "elsajson"},
	"pkg/apiclient":                  {floor: 0},
	"pkg/metrics":                    {floor: 0, wing: "words", step: 2},
	"internal/find":                  {floor: 0, wing: "words", step: 2},
	"internal/callers":               {floor: 0, wing: "words", step: 2},
	"internal/recent":                {floor: 0, wing: "words", step: 2},
	"internal/tracing":               {floor: 0},
	"internal/heapfloor":             {floor: 0},
	"internal/keylock":               {floor: 0},
	"internal/cron":                  {floor: 0, wing: "words", step: 2},
	"internal/outgoing":              {floor: 0},
	"internal/pairs":                 {floor: 0},
	"internal/charset":               {floor: 0},
	"internal/inflate":               {floor: 0},
	"internal/pace":                  {floor: 0, wing: "waits"},
	"internal/disk":                  {floor: 0},
	"internal/undo":                  {floor: 0},
	"internal/follow":                {floor: 0, wing: "waits"},
	"internal/secrets":               {floor: 0, wing: "waits", step: 1},
	"internal/certificate":           {floor: 0, wing: "waits", step: 1},
	"internal/auth":                  {floor: 0, wing: "waits", step: 1},
	"internal/auth/authtest":         {floor: 0},
	"internal/pagetest":              {floor: 0},
	"internal/freeaddr":              {floor: 0},
	"internal/polltest":              {floor: 0},
	"internal/postgrestest":          {floor: 1},
	"internal/testsize":              {floor: 0},
}

// strangers are packages that the floors would let meet, and that do not.
var strangers = []struct{ pkg, apart, why string }{
	{"internal/httpapi", "internal/store", "what is stored would be one step from the outward contract; take a type of the package that reads it"},
}

// beside is what stands beside the machine, which does not know it: what helps to write
// definitions, and what people see. Who is in neither, and joins nothing, is the machine.
var beside = map[string][]string{
	"authoring": {"internal/authoring", "pkg/workflowtest", "pkg/workflow/flow"},
	"people":    {"internal/people"},
}

// joins are the packages that put the parts together.
var joins = map[string]string{
	"pkg/node/full": "it gives a node all that stands beside the machine",
}

// testHelpers may be imported by every test, also by one inside a package.
var testHelpers = map[string]string{
	"internal/auth/authtest":  "it is a provider of tokens and knows nothing of this project",
	"internal/pagetest":       "it compares files and knows nothing of this project",
	"internal/freeaddr":       "it looks at ports and knows nothing of this project",
	"internal/postgrestest":   "it starts a server and knows nothing of this project",
	"internal/polltest":       "it asks again and again and knows nothing of this project",
	"internal/testsize":       "it reads a variable and knows nothing of this project",
	"internal/nodetest":       "it starts whole nodes, for tests beside what asks them",
	"pkg/cluster/clustertest": "it starts etcd and knows nothing above pkg/cluster",

	"internal/expression/expressiontest": "it knows what an evaluator is, and no language",
	"internal/upkeep/membertest":         "it is a node without HTTP, for tests beside pkg/runtime and internal/upkeep",
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
		owners: []string{"pkg/cluster", "internal/store", "internal/etcd", "test/e2e", "test/etcds", "bench"},
		why:    "keys and transactions are the business of pkg/cluster and internal/store; internal/etcd dials",
	},
	{
		prefix: "github.com/dop251/goja",
		owners: []string{"internal/expression/js"},
		why:    "scripts run in the sandbox of internal/expression/js and nowhere else",
	},
	{
		prefix: "github.com/expr-lang/expr",
		owners: []string{"internal/expression/native"},
		why:    "${{ }} is evaluated within bounds, in internal/expression/native and nowhere else",
	},
	{
		prefix: "github.com/sethvargo/go-retry",
		owners: []string{"internal/pace"},
		why:    "how long to wait before the next try is said in the words of internal/pace, so that all of it is found there",
	},
	{
		prefix: "github.com/jackc/pgx",
		owners: []string{"pkg/activities/sql/postgres"},
		why:    "its errors have the text of the connection, which pkg/activities/sql/postgres leaves out",
	},
	{
		prefix: "github.com/parquet-go/parquet-go",
		owners: []string{"internal/people/command/remote/exports"},
		why:    "it is large, and a node has nothing to do with it: what analysts get is written by the CLI",
	},
	{
		prefix: "modernc.org/sqlite",
		owners: []string{"pkg/activities/sql/sqlite"},
		why:    "it is large, so only a node that is given it has it, and it opens any file that it is told to",
	},
	{
		prefix: "github.com/yuin/goldmark",
		owners: []string{"internal/people/console/markdown"},
		why:    "what it makes is tamed by internal/people/console/markdown, and nowhere else",
	},
	{
		prefix: "github.com/wneessen/go-mail",
		owners: []string{"pkg/activities/mail"},
		why:    "mail is written and sent within the bounds of pkg/activities/mail, and nowhere else",
	},
	{
		prefix: "github.com/prometheus/client_golang/prometheus/promauto",
		owners: nil,
		why:    "it registers with a global; the registry is injected",
	},
	{
		prefix: "github.com/prometheus/client_golang",
		owners: []string{"pkg/metrics", "pkg/node", "internal/httpapi", "test/e2e", "bench"},
		why:    "callers say what happened through pkg/metrics; pkg/node owns the registry and internal/httpapi serves it",
	},
	{
		prefix: "go.opentelemetry.io",
		owners: []string{"internal/tracing", "pkg/node"},
		why:    "callers say what happened through internal/tracing; pkg/node takes the provider of the program that it is part of",
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
