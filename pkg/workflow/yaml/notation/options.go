package notation

// The options of a definition, and what they may say.
var (
	OptionKeys      = []string{"activation", "incidents", "commit", "commitInterval", "calls", "usableAsActivity", "autoUpdate", "additionalInputs", "catchUp", "logging", "flowcharts"}
	ActivationNames = []string{"Always", "Singleton", "CorrelatedSingleton", "Correlation"}
	IncidentNames   = []string{"Fault", "ContinueWithIncidents"}
	CommitNames     = []string{"WorkflowExecuting", "WorkflowExecuted", "ActivityExecuting", "ActivityExecuted", "ActivityExecutingStrict", "ActivityExecutedStrict", "Periodic"}
	CatchUpNames    = []string{"skip", "one", "all"}
	LoggingNames    = []string{"Include", "Exclude"}
	ModeNames       = []string{"counter", "token"}
)

// ModeProperty is Elsa's name of the setting that selects the flowchart engine.
const ModeProperty = "Flowchart:ExecutionMode"

// Modes has what Elsa calls the modes of flowcharts.
var Modes = map[string]string{"counter": "CounterBased", "token": "TokenBased"}
