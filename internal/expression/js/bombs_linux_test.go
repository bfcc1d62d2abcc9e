package js

import (
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
)

func TestMain(m *testing.M) { expressiontest.Main(m, Evaluator{}) }

func TestBombs(t *testing.T) { expressiontest.Bombs(t, Evaluator{}, "", "") }
