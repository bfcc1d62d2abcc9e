package expression

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

var _ engine.Evaluator = javascript{}

// javascript evaluates scripts with goja, each in a virtual machine of its own.
type javascript struct{}

func (javascript) Kinds() []string { return []string{workflow.JavaScript} }

// Compile parses the script. Its value is its completion value; a script that
// has a return at its top is the body of a function, whose result counts.
func (javascript) Compile(e workflow.Expression) (engine.Compiled, error) {
	source, err := sourceOf(e)
	if err != nil {
		return nil, err
	}
	s := &script{source: source, secrets: secretsIn(source)}
	if at, deep := tooDeep(source); deep {
		return nil, s.problem(at, ErrDepth.Error(), ErrDepth)
	}
	if at, err := reread(source); err != nil {
		return nil, s.problem(at, err.Error(), err)
	}
	if err := s.compile(); err != nil {
		return nil, err
	}
	return s, nil
}

// script is a compiled script, shared by all its evaluations.
type script struct {
	source  string
	program *goja.Program
	wrapped int             // bytes that were put before line 1
	plain   bool            // it needs no hardening
	names   map[string]bool // of builtins, that it mentions
	pattern bool            // it has a regular expression
	rest    bool            // it has a pattern that takes the rest of an object
	secrets []string        // that it names
}

const (
	wrapHead = "(function(){"
	wrapTail = "\n})()"
)

func (s *script) compile() (err error) {
	defer func() {
		if r := recover(); r != nil { // a bug of the library must not end the node
			err = &Error{Kind: workflow.JavaScript, Source: excerpt(s.source), Message: fmt.Sprintf("this cannot be read: %v", r)}
		}
	}()
	tree, err := parse(s.source)
	if err != nil && isReturn(err) {
		s.wrapped = len(wrapHead)
		tree, err = parse(wrapHead + s.source + wrapTail)
	}
	if err != nil {
		return s.syntax(err)
	}
	w := rewriter{seen: map[any]bool{}}
	w.walk(reflect.ValueOf(tree))
	if r := w.refused; r != nil {
		p := tree.File.Position(int(r.at) - 1)
		return s.at(p.Line, p.Column, r.message, r.cause)
	}
	s.plain, s.names, s.pattern, s.rest = !w.fancy, w.names, w.pattern, w.rest
	if s.program, err = goja.CompileAST(tree, false); err != nil {
		return s.syntax(err)
	}
	return nil
}

func parse(source string) (*ast.Program, error) {
	// Without the option the parser would read the files that source maps name.
	return parser.ParseFile(nil, "", source, 0, parser.WithDisableSourceMaps)
}

func isReturn(err error) bool {
	var list parser.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return false
	}
	return list[0].Message == "Illegal return statement"
}

// syntax gives the first error of the parser or the compiler with its place.
func (s *script) syntax(err error) error {
	var list parser.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		return s.at(list[0].Position.Line, list[0].Position.Column, list[0].Message, nil)
	}
	var ce *goja.CompilerSyntaxError
	if errors.As(err, &ce) && ce.File != nil {
		p := ce.File.Position(ce.Offset)
		return s.at(p.Line, p.Column, ce.Message, nil)
	}
	return &Error{Kind: workflow.JavaScript, Source: excerpt(s.source), Message: err.Error()}
}

// at makes an error for a place in the program that was compiled.
func (s *script) at(line, column int, message string, cause error) *Error {
	if line == 1 {
		column = max(column-s.wrapped, 1)
	}
	if last := strings.Count(s.source, "\n") + 1; line > last { // within wrapTail
		line, column = last, len(nthLine(s.source, last))+1
	}
	return &Error{Kind: workflow.JavaScript, Source: nthLine(s.source, line), Line: line, Column: column, Message: message, Err: cause}
}

func (s *script) problem(offset int, message string, cause error) *Error {
	e := &Error{Kind: workflow.JavaScript, Message: message, Err: cause}
	e.Line, e.Column, e.Source = lineAt(s.source, offset)
	return e
}

// Secrets names what the script reads, as far as it shows.
func (s *script) Secrets() []string { return s.secrets }

// Eval implements [engine.Compiled].
func (s *script) Eval(ctx context.Context, scope engine.Scope) (v any, err error) {
	if ctx.Err() != nil {
		return nil, &Error{Kind: workflow.JavaScript, Source: excerpt(s.source), Message: "the evaluation was stopped", Err: ended(ctx)}
	}
	x := newScriptRun(s, scope)
	x.watcher = watch(ctx, x.vm, x.limits.script)
	defer func() {
		x.watcher.stop()
		if r := recover(); r != nil {
			if stopped, ok := r.(error); ok && isInterrupt(stopped) {
				v, err = nil, x.problem(stopped)
				return
			}
			v, err = nil, &Error{Kind: workflow.JavaScript, Source: excerpt(s.source), Message: fmt.Sprintf("this cannot be evaluated: %v", r)}
		}
	}()
	return x.eval()
}

// isInterrupt reports whether err is how the machine ends a script from outside;
// where the script was called back from Go, it comes as a panic.
func isInterrupt(err error) bool {
	var interrupted *goja.InterruptedError
	var overflow *goja.StackOverflowError
	return errors.As(err, &interrupted) || errors.As(err, &overflow)
}
