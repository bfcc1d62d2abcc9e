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

// judges read what etcd answered, and were handed it. In other functions the part
// from the first look at Succeeded on does.
var judges = []string{"refused", "refusedUnlocked", "moved", "readProof", "gone", "readRelease", "readOn"}

// readings are the mutants of a function that reads etcd's answer to a transaction:
// each condition in it, made to hold always and never.
func readings(fset *token.FileSet, fn *ast.FuncDecl, name string, src []byte) []*mutant {
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

// conditions are those of if, of switches without a value, and those that are
// returned; but not whether there was an answer at all.
func conditions(fn *ast.FuncDecl) (out []ast.Expr) {
	judging := slices.Contains(judges, fn.Name.Name)
	add := func(cond ast.Expr) {
		judging = judging || mentions(cond, "Succeeded")
		if judging && (!mentions(cond, "err") || mentions(cond, "Succeeded")) {
			out = append(out, cond)
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			add(n.Cond)
		case *ast.SwitchStmt:
			if n.Tag == nil {
				for _, c := range n.Body.List {
					for _, cond := range c.(*ast.CaseClause).List {
						add(cond)
					}
				}
			}
		case *ast.ReturnStmt:
			for _, r := range n.Results {
				if b, ok := r.(*ast.BinaryExpr); ok && slices.Contains([]token.Token{token.LAND, token.LOR, token.EQL, token.NEQ, token.GTR, token.LSS}, b.Op) {
					add(b)
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
