package native

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/native/words"
	"github.com/weft-run/weft/pkg/workflow"
)

// code is one compiled ${{ }}.
type code struct {
	program  *vm.Program
	refs     []ref
	patterns []evaluation.Pattern
	path     string
	text     string // the whole template
	offset   int    // of the code in it
	source   string
}

// placed completes an error with its place in text.
func placed(e *evaluation.Error, text string, at int) *evaluation.Error {
	e.Kind = workflow.Expr
	e.Line, e.Column, e.Source = evaluation.LineAt(text, at)
	return e
}

// maxNodes bounds the syntax tree of one ${{ }}.
const maxNodes = 2000

func (k *code) compile() (err error) {
	defer func() {
		if r := recover(); r != nil { // a bug of the library must not end the node
			err = placed(&evaluation.Error{Path: k.path, Message: fmt.Sprintf("this cannot be read: %v", r)}, k.text, k.offset)
		}
	}()
	if strings.TrimSpace(k.source) == "" {
		return placed(&evaluation.Error{Path: k.path, Message: "${{ }} is empty"}, k.text, k.offset)
	}
	if len(k.source) > evaluation.MaxSource {
		return placed(&evaluation.Error{Path: k.path, Message: "the expression is longer than 128 KiB"}, k.text, k.offset)
	}
	if at, deep := evaluation.TooDeep(k.source); deep {
		return placed(&evaluation.Error{Path: k.path, Message: evaluation.ErrDepth.Error(), Err: evaluation.ErrDepth}, k.text, k.offset+at)
	}
	p := patcher{code: k}
	program, err := expr.Compile(k.source, expr.Env(declared), expr.Optimize(false), expr.MaxNodes(maxNodes),
		expr.DisableBuiltin("now"), expr.Patch(&p))
	if p.err != nil {
		err = p.err
	}
	if err != nil {
		return k.problem(err)
	}
	k.program = program
	return nil
}

// problem turns an error of the library into one with its place in the
// template.
func (k *code) problem(err error) error {
	var known *evaluation.Error
	if errors.As(err, &known) {
		return known
	}
	e, at := &evaluation.Error{Path: k.path, Message: err.Error(), Err: err}, k.offset
	var f *file.Error
	if errors.As(err, &f) {
		offset := byteOffset(k.source, f.From)
		var ours saidError
		if errors.As(f.Prev, &ours) {
			e.Message, e.Err = ours.Error(), ours.error
		} else {
			e.Message, e.Err = words.OfSource(f.Message, k.source, offset, globalNames), f.Prev
		}
		at += offset
		if f.Message == "memory budget exceeded" { // the library's own budget, of elements
			e.Message, e.Err = evaluation.ErrMemory.Error(), evaluation.ErrMemory
		}
	}
	return placed(e, k.text, at)
}

// byteOffset is where rune number n of s begins.
func byteOffset(s string, n int) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}
