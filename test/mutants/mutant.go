package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is the product with one guard taken away.
type mutant struct {
	in   string // where the guard stands
	text string // the guard
	// sources are the files that change, by path below the module's root.
	sources func() (map[string]string, error)
	suites  [][]string // of them one has to fail
}

func (m *mutant) name() string { return m.in + ": " + m.text }

// constructors make one compare each.
var constructors = []string{"Absent", "Exists", "CreatedAt", "ModifiedAt", "NotWrittenAfter", "NoneWrittenAfter", "NoneNewer", "NoneOlder", "Leased"}

// find parses the code of the packages from dir on for calls of the constructors, and for
// what reads etcd's answers to the transactions.
func find(dir string) (compares, answers []*mutant, err error) {
	files, err := sources(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, src, 0)
		if err != nil {
			return nil, nil, err
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil || fn.Name.Name == "Void" {
				continue // Void compares in an Else
			}
			answers = append(answers, readings(fset, fn, name, src)...)
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if isCompare(call.Fun) {
					from, to := fset.Position(call.Pos()).Offset, fset.Position(call.End()).Offset
					text := string(src[from:to])
					compares = append(compares, &mutant{in: filepath.Base(name) + " " + fn.Name.Name, text: text, suites: storeSuites,
						sources: func() (map[string]string, error) {
							changed := string(src[:from]) + "always(" + text + ")" + string(src[to:])
							return map[string]string{name: changed, filepath.Join(filepath.Dir(name), "always.go"): "package " + f.Name.Name + always}, nil
						}})
				}
				return true
			})
		}
	}
	return compares, answers, nil
}

// sources are the files of code from dir on.
func sources(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			files = append(files, name)
		}
		return err
	})
	return files, err
}

// isCompare tells whether a call makes a compare: one of the constructors, or
// the etcd client's own.
func isCompare(fun ast.Expr) bool {
	switch f := fun.(type) {
	case *ast.Ident:
		return slices.Contains(constructors, f.Name)
	case *ast.SelectorExpr:
		of, ok := f.X.(*ast.Ident) // there are other packages that compare
		return ok && (of.Name == "clientv3" && f.Sel.Name == "Compare" || of.Name == "db" && slices.Contains(constructors, f.Sel.Name))
	}
	return false
}

// always takes the place of a compare: nothing has this key.
const always = `

import clientv3 "go.etcd.io/etcd/client/v3"

func always(clientv3.Cmp) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision("~"), "=", 0)
}
`

// overlay writes the mutant and the file that tells go of it.
func (m *mutant) overlay(dir string) (string, error) {
	sources, err := m.sources()
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, content := range sources {
		to := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(to, []byte(content), 0o600); err != nil {
			return "", err
		}
		abs, err := filepath.Abs(name)
		if err != nil {
			return "", err
		}
		replace[abs] = to
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, raw, 0o600)
}
