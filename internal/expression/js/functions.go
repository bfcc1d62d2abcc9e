package js

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/google/uuid"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/js/dotnet"
	"github.com/weft-run/weft/internal/expression/js/mend"
	"github.com/weft-run/weft/internal/expression/js/rewrite"
	"github.com/weft-run/weft/pkg/workflow"
)

type hostFunction func(x *scriptRun, c goja.FunctionCall) goja.Value

// hostFunctions are Elsa's functions, and a few of Weft's own (setOutput,
// getSecret).
var hostFunctions = map[string]hostFunction{
	rewrite.FnPlus: func(x *scriptRun, c goja.FunctionCall) goja.Value { return x.plus(c.Argument(0), c.Argument(1)) },
	rewrite.FnPlusT: func(x *scriptRun, c goja.FunctionCall) goja.Value {
		return x.assign(c, x.plus)
	},
	rewrite.FnPower: func(x *scriptRun, c goja.FunctionCall) goja.Value {
		return mend.Power(x.vm, c.Argument(0), c.Argument(1))
	},
	rewrite.FnPowTo: func(x *scriptRun, c goja.FunctionCall) goja.Value {
		return x.assign(c, func(a, b goja.Value) goja.Value { return mend.Power(x.vm, a, b) })
	},
	rewrite.FnKey:  func(x *scriptRun, c goja.FunctionCall) goja.Value { return x.key(c.Argument(0)) },
	rewrite.FnText: func(x *scriptRun, c goja.FunctionCall) goja.Value { return x.template(c.Arguments) },
	rewrite.FnMany: func(x *scriptRun, c goja.FunctionCall) goja.Value {
		x.few(c.Argument(0))
		return c.Argument(0)
	},
	rewrite.FnCatch: func(x *scriptRun, c goja.FunctionCall) goja.Value {
		mend.Caught(x.vm, c.Argument(0))
		return goja.Undefined()
	},
	rewrite.FnDate: func(_ *scriptRun, c goja.FunctionCall) goja.Value { return mend.Date(c.Argument(0)) },

	"getVariable": func(x *scriptRun, c goja.FunctionCall) goja.Value { return x.readVariable(name(x, c, 0)) },
	"setVariable": func(x *scriptRun, c goja.FunctionCall) goja.Value {
		x.writeVariable(name(x, c, 0), c.Argument(1))
		return goja.Undefined()
	},
	"getInput":      func(x *scriptRun, c goja.FunctionCall) goja.Value { return x.readInput(name(x, c, 0)) },
	"getOutputFrom": getOutputFrom,
	"getLastResult": func(x *scriptRun, _ goja.FunctionCall) goja.Value { return x.in(x.scope.LastResult()) },
	"setOutput": func(x *scriptRun, c goja.FunctionCall) goja.Value {
		x.scope.SetOutput(name(x, c, 0), x.mustOut(c.Argument(1)))
		return goja.Undefined()
	},
	"setOutcome":  setOutcomes,
	"setOutcomes": setOutcomes,
	"getSecret": func(x *scriptRun, c goja.FunctionCall) goja.Value {
		return x.secret(name(x, c, 0))
	},

	"resumeUrl": func(x *scriptRun, c goja.FunctionCall) goja.Value {
		texts := make([]string, len(c.Arguments))
		for i, a := range c.Arguments {
			texts[i] = text(a)
		}
		url, err := evaluation.ResumeURL(x.scope, texts)
		if err != nil {
			panic(x.vm.NewTypeError("%s", err.Error()))
		}
		return x.vm.ToValue(url)
	},

	"getWorkflowInstanceId": func(x *scriptRun, _ goja.FunctionCall) goja.Value { return x.vm.ToValue(x.scope.InstanceID()) },
	"getWorkflowDefinitionId": func(x *scriptRun, _ goja.FunctionCall) goja.Value {
		return x.vm.ToValue(x.scope.DefinitionID())
	},
	"getWorkflowDefinitionVersion": func(x *scriptRun, _ goja.FunctionCall) goja.Value {
		return x.vm.ToValue(x.scope.DefinitionVersion())
	},
	"getWorkflowDefinitionVersionId": func(x *scriptRun, _ goja.FunctionCall) goja.Value {
		return x.vm.ToValue(x.scope.DefinitionVersionID())
	},
	"getCorrelationId": func(x *scriptRun, _ goja.FunctionCall) goja.Value { return x.vm.ToValue(x.scope.CorrelationID()) },
	"setCorrelationId": func(x *scriptRun, c goja.FunctionCall) goja.Value {
		x.scope.SetCorrelationID(text(c.Argument(0)))
		return goja.Undefined()
	},
	"getWorkflowInstanceName": func(x *scriptRun, _ goja.FunctionCall) goja.Value { return x.vm.ToValue(x.scope.InstanceName()) },
	"setWorkflowInstanceName": func(x *scriptRun, c goja.FunctionCall) goja.Value {
		x.scope.SetInstanceName(text(c.Argument(0)))
		return goja.Undefined()
	},

	"newGuid":       newGUID,
	"newGuidString": newGUID,
	"newShortGuid":  newShortGUID,
	"getShortGuid":  newShortGUID,
	"getGuidString": newGUID,
	"parseGuid": func(x *scriptRun, c goja.FunctionCall) goja.Value {
		return dotnet.Host{VM: x.vm}.ParseGUID(text(c.Argument(0)))
	},

	"toJson":    toJSON,
	"parseJson": fromJSON,
	"fromJson":  fromJSON,

	"isNullOrEmpty": func(x *scriptRun, c goja.FunctionCall) goja.Value {
		return x.vm.ToValue(text(c.Argument(0)) == "")
	},
	"isNullOrWhiteSpace": func(x *scriptRun, c goja.FunctionCall) goja.Value {
		return x.vm.ToValue(strings.TrimSpace(text(c.Argument(0))) == "")
	},

	"stringToBase64":   func(x *scriptRun, c goja.FunctionCall) goja.Value { return x.base64([]byte(text(c.Argument(0)))) },
	"stringFromBase64": func(x *scriptRun, c goja.FunctionCall) goja.Value { return x.vm.ToValue(string(x.unbase64(c))) },
	"bytesToString": func(x *scriptRun, c goja.FunctionCall) goja.Value {
		return x.vm.ToValue(string(x.bytes(c.Argument(0))))
	},
	"bytesFromString": func(x *scriptRun, c goja.FunctionCall) goja.Value { return x.byteList([]byte(text(c.Argument(0)))) },
	"bytesToBase64":   func(x *scriptRun, c goja.FunctionCall) goja.Value { return x.base64(x.bytes(c.Argument(0))) },
	"bytesFromBase64": func(x *scriptRun, c goja.FunctionCall) goja.Value { return x.byteList(x.unbase64(c)) },
	"streamToBytes":   func(x *scriptRun, c goja.FunctionCall) goja.Value { return x.byteList(x.bytes(c.Argument(0))) },
	"streamToBase64":  func(x *scriptRun, c goja.FunctionCall) goja.Value { return x.base64(x.bytes(c.Argument(0))) },
	"bytesToHexString": func(x *scriptRun, c goja.FunctionCall) goja.Value {
		return x.vm.ToValue(hex.EncodeToString(x.bytes(c.Argument(0))))
	},
}

func name(x *scriptRun, c goja.FunctionCall, i int) string {
	s, ok := c.Argument(i).(goja.String)
	if !ok {
		panic(x.vm.NewTypeError("a name is expected, as text"))
	}
	return s.String()
}

func (x *scriptRun) mustOut(v goja.Value) any {
	out, err := x.out(v)
	if err != nil {
		x.fail(err)
	}
	return out
}

func getOutputFrom(x *scriptRun, c goja.FunctionCall) goja.Value {
	output := ""
	if len(c.Arguments) > 1 && !goja.IsUndefined(c.Argument(1)) && !goja.IsNull(c.Argument(1)) {
		output = name(x, c, 1)
	}
	v, _ := x.scope.ActivityOutput(name(x, c, 0), output)
	return x.in(v)
}

func setOutcomes(x *scriptRun, c goja.FunctionCall) goja.Value {
	var names []string
	for _, a := range c.Arguments {
		switch v := x.mustOut(a).(type) {
		case []any:
			for _, e := range v {
				b, _ := evaluation.AppendText(nil, e)
				names = append(names, string(b))
			}
		case nil:
		default:
			b, _ := evaluation.AppendText(nil, v)
			names = append(names, string(b))
		}
	}
	x.scope.SetOutcomes(names...)
	return goja.Undefined()
}

// newID gives a GUID that derives from the burst's ids.
func (x *scriptRun) newID() uuid.UUID {
	id := x.scope.NewID()
	if u, err := uuid.Parse(id); err == nil {
		return u
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(id))
}

func newGUID(x *scriptRun, _ goja.FunctionCall) goja.Value { return x.vm.ToValue(x.newID().String()) }

func newShortGUID(x *scriptRun, _ goja.FunctionCall) goja.Value {
	id := x.newID()
	return x.vm.ToValue(base64.RawURLEncoding.EncodeToString(id[:]))
}

func toJSON(x *scriptRun, c goja.FunctionCall) goja.Value {
	raw, err := workflow.Marshal(x.mustOut(c.Argument(0)))
	if err != nil {
		x.fail(err)
	}
	return x.vm.ToValue(string(raw))
}

func fromJSON(x *scriptRun, c goja.FunctionCall) goja.Value {
	v, _, err := evaluation.ParseJSON(text(c.Argument(0)))
	if err == nil {
		v, err = evaluation.Clean(v, x.limits.Output)
	}
	if err != nil {
		x.fail(err)
	}
	return x.in(v)
}

func (x *scriptRun) base64(b []byte) goja.Value {
	return x.vm.ToValue(base64.StdEncoding.EncodeToString(b))
}

func (x *scriptRun) unbase64(c goja.FunctionCall) []byte {
	b, err := base64.StdEncoding.DecodeString(text(c.Argument(0)))
	if err != nil {
		panic(x.vm.NewTypeError("this is not base64"))
	}
	return b
}

// bytes reads a list of numbers from 0 to 255. Text stands for itself.
func (x *scriptRun) bytes(v goja.Value) []byte {
	switch v := x.mustOut(v).(type) {
	case nil:
		return nil
	case string:
		return []byte(v)
	case []any:
		out := make([]byte, len(v))
		for i, e := range v {
			n, ok := e.(int64)
			if !ok || n < 0 || n > 255 {
				panic(x.vm.NewTypeError("bytes are a list of numbers from 0 to 255"))
			}
			out[i] = byte(n)
		}
		return out
	}
	panic(x.vm.NewTypeError("bytes are a list of numbers from 0 to 255"))
}

func (x *scriptRun) byteList(b []byte) goja.Value {
	if len(b) > x.limits.Output {
		x.fail(evaluation.ErrOutput)
	}
	items := make([]any, len(b))
	for i, c := range b {
		items[i] = int64(c)
	}
	return x.vm.NewArray(items...)
}

// isHostName reports whether a script finds a function or a type of that name beside what the language has.
func isHostName(name string) bool {
	return hostFunctions[name] != nil || dotnet.Has(name)
}

// Functions lists what a script may call beside what the language has, sorted.
func Functions() []string {
	var out []string
	for name := range hostFunctions {
		if name[0] >= 'a' && name[0] <= 'z' { // others are for what scripts are rewritten to
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
