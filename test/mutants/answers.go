package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// judges tell from etcd's answer what became of a commit, and what there is to do
// after it.
var judges = []string{"classifyRefusal", "classifyUnlocked", "moved", "proof", "released", "lockIsGone", "readRelease", "readOn", "settle", "classifyResume", "mayBeUnlocked"}

// readings are the mutants of a judge: each condition in it, made to hold always and
// never.
func readings(fset *token.FileSet, fn *ast.FuncDecl, name string, src []byte) []*mutant {
	if !slices.Contains(judges, fn.Name.Name) {
		return nil
	}
	var out []*mutant
	seen := map[string]int{}
	for _, cond := range conditions(fn) {
		from, to := fset.Position(cond.Pos()).Offset, fset.Position(cond.End()).Offset
		text := string(src[from:to])
		// The table's columns are kept apart by bars.
		told := strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "||", "or")
		if seen[told]++; seen[told] > 1 {
			told = fmt.Sprintf("%s (no. %d)", told, seen[told])
		}
		for _, f := range []struct{ how, code string }{{"always", "true || "}, {"never", "false && "}} {
			out = append(out, &mutant{
				in: filepath.Base(name) + " " + fn.Name.Name, text: f.how + ": " + told, suites: storeSuites,
				sources: func() (map[string]string, error) {
					return map[string]string{name: string(bytes.Join([][]byte{src[:from], src[to:]}, []byte(f.code+"("+text+")")))}, nil
				},
			})
		}
	}
	return out
}

// conditions are those of if, and those that are returned; but not whether there was
// an answer at all.
func conditions(fn *ast.FuncDecl) (out []ast.Expr) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if !mentions(n.Cond, "err") {
				out = append(out, n.Cond)
			}
		case *ast.ReturnStmt:
			for _, r := range n.Results {
				if b, ok := r.(*ast.BinaryExpr); ok && slices.Contains([]token.Token{token.LAND, token.LOR, token.EQL, token.NEQ, token.GTR, token.LSS}, b.Op) {
					out = append(out, b)
				}
			}
		}
		return true
	})
	return out
}

// mentions tells whether a name occurs in an expression.
func mentions(x ast.Expr, name string) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return true
	})
	return found
}
