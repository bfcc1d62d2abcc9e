package node

import (
	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// The values of [Config.JavaScript].
const (
	JavaScriptOn  = "on"
	JavaScriptOff = "off"
)

// evaluators are those of the languages that this node evaluates.
func (c *Config) evaluators() []engine.Evaluator {
	if c.JavaScript == JavaScriptOff {
		return expression.Except(workflow.JavaScript)
	}
	return expression.All()
}
