package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// Where keys are made and transactions are sent, and the pages that have them all.
var (
	keyPackages = []string{"internal/store/etcdstore/...", "pkg/cluster", "pkg/cluster/mutex"} // ...: with what is below
	keyPages    = []string{"docs/keys.md", "docs/keys-definitions.md"}
	// forwards hand on what they are given.
	forwards = []string{"Conn.Txn", "Conn.Read", "Txn.Submit", "Txn.SubmitSmall"}
)

var (
	keyRow   = regexp.MustCompile("(?m)^\\| (`[a-z-]+/[^|]*?) \\|")
	inCode   = regexp.MustCompile("`([^`]+)`")
	inserted = regexp.MustCompile(`<[^>]*>|…`)
	verb     = regexp.MustCompile(`%\d*[a-z]`)
	sender   = regexp.MustCompile("`(\\w+\\.\\w+)`")
)

func TestEveryKeyAndTransactionIsOnItsPage(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(root)
	code, page := readCode(t, tree), readKeyPages(t, tree)
	if len(code.keys) < 40 || len(page.keys) < 40 || len(code.sends) < 40 {
		t.Fatalf("found %d keys in the code and %d on the pages, %d transactions", len(code.keys), len(page.keys), len(code.sends))
	}
	for _, p := range different(code, page) {
		t.Error(p)
	}
}

// stored are the shapes of keys below the root, with * for what is inserted, and
// the functions that send a transaction.
type stored struct{ keys, sends map[string]bool }

// different says what code and pages do not have in common. A key of the code may
// be the beginning of one on a page, as ranges are. One on a page begins with a
// key of the code than which no other is longer.
func different(code, page stored) []string {
	var problems []string
	for _, key := range slices.Sorted(maps.Keys(code.keys)) {
		if !some(page.keys, func(on string) bool { return begins(on, key, false) }) {
			problems = append(problems, "no page has the key "+key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(page.keys)) {
		if !some(code.keys, func(in string) bool {
			return begins(key, in, true) && !some(code.keys, func(longer string) bool { return longer != in && begins(longer, in, false) })
		}) {
			problems = append(problems, "no code makes the key "+key)
		}
	}
	for _, f := range slices.Sorted(maps.Keys(code.sends)) {
		if !page.sends[f] {
			problems = append(problems, "no page has the transaction of "+f)
		}
	}
	for _, f := range slices.Sorted(maps.Keys(page.sends)) {
		if of, _, _ := strings.Cut(f, "."); !code.sends[f] && some(code.sends, func(s string) bool { return strings.HasPrefix(s, of+".") }) {
			problems = append(problems, "no transaction is sent by "+f)
		}
	}
	return problems
}

func some(set map[string]bool, is func(string) bool) bool {
	for s := range set {
		if is(s) {
			return true
		}
	}
	return false
}

// begins tells whether key begins with the parts of start. A * of start may stand for
// any part if so said, else for another * only.
func begins(key, start string, anyPart bool) bool {
	parts := strings.Split(key, "/")
	for i, want := range strings.Split(strings.TrimSuffix(start, "/"), "/") {
		if i >= len(parts) || parts[i] != want && (want != "*" || !anyPart) {
			return false
		}
	}
	return true
}

// readKeyPages gives the keys of the first cells of tables, and each name of the
// form Type.method.
func readKeyPages(t *testing.T, tree fs.FS) stored {
	t.Helper()
	out := stored{map[string]bool{}, map[string]bool{}}
	for _, page := range keyPages {
		text := read(t, tree, page)
		for _, row := range keyRow.FindAllStringSubmatch(text, -1) {
			before := ""
			for _, code := range inCode.FindAllStringSubmatch(row[1], -1) {
				key := code[1]
				if rest, ok := strings.CutPrefix(key, "…/"); ok { // as the key before, but for its last parts
					parts := strings.Split(before, "/")
					same := len(parts) - len(strings.Split(rest, "/"))
					key = strings.Join(parts[:same], "/") + "/" + rest
				}
				before = key
				out.keys[stars(inserted.ReplaceAllString(key, "*"))] = true
			}
		}
		for _, m := range sender.FindAllStringSubmatch(text, -1) {
			out.sends[m[1]] = true
		}
	}
	return out
}

// stars makes parts that are partly inserted wholly so, where they begin so.
func stars(key string) string {
	parts := strings.Split(key, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "*") {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/")
}

// readCode reads what the packages make and send, without their tests.
func readCode(t *testing.T, tree fs.FS) stored {
	t.Helper()
	out := stored{map[string]bool{}, map[string]bool{}}
	for _, dir := range keyPackages {
		dir, deep := strings.CutSuffix(dir, "/...")
		p := keyPackage{name: dir[strings.LastIndexByte(dir, '/')+1:], methods: map[string]*ast.FuncDecl{}, consts: map[string]string{}}
		err := fs.WalkDir(tree, dir, func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && name != dir && !deep:
				return fs.SkipDir
			case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
				p.add(t, read(t, tree, name))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		p.collect(out)
	}
	return out
}

// keyPackage is a package that makes keys, with those below that it has them from: all but constants are expressions that
// begin with a field root, or with a call of a method of a type of keys.
type keyPackage struct {
	name    string
	funcs   []*ast.FuncDecl
	methods map[string]*ast.FuncDecl // of types of keys
	consts  map[string]string
}

func (p *keyPackage) add(t *testing.T, source string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			p.funcs = append(p.funcs, n)
			if strings.HasSuffix(strings.ToLower(receiver(n)), "keys") {
				p.methods[n.Name.Name] = n
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) {
					if s, ok := literal(n.Values[i]); ok {
						p.consts[name.Name] = s
					}
				}
			}
		}
		return true
	})
}

func (p *keyPackage) collect(out stored) {
	for _, f := range p.funcs {
		locals := assigned(f)
		ast.Inspect(f, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			if sends(e) && !slices.Contains(forwards, p.nameOf(f)) {
				out.sends[p.nameOf(f)] = true
			}
			key, ok := strings.CutPrefix(strings.TrimSuffix(p.eval(e, locals, 0), "\x00"), below)
			if ok && key != "" && !strings.HasPrefix(key, "*") {
				out.keys[stars(key)] = true
				return false // its parts are of it
			}
			return true
		})
	}
}

// below stands for the root of all keys.
const below = "\x01"

// eval gives the shape of a key. It is * for all that is not known.
func (p *keyPackage) eval(e ast.Expr, locals map[string]ast.Expr, depth int) string {
	const unknown = "*"
	if s, ok := literal(e); ok {
		return s
	}
	if depth > 20 {
		return unknown
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return p.eval(e.X, locals, depth+1) + p.eval(e.Y, locals, depth+1)
		}
	case *ast.Ident:
		if s, ok := p.consts[e.Name]; ok {
			return s
		}
		if value, ok := locals[e.Name]; ok {
			return p.eval(value, locals, depth+1)
		}
	case *ast.SelectorExpr:
		if e.Sel.Name == "root" || e.Sel.Name == "Root" {
			return below
		}
	case *ast.CallExpr:
		called, ok := e.Fun.(*ast.SelectorExpr)
		if !ok {
			return unknown
		}
		if method := p.methods[called.Sel.Name]; method != nil && len(parameters(method)) == len(e.Args) {
			inner := assigned(method)
			for i, name := range parameters(method) {
				inner[name] = &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(p.eval(e.Args[i], locals, depth+1))}
			}
			return p.eval(lastResult(method), inner, depth+1)
		}
		if x, ok := called.X.(*ast.Ident); ok && x.Name == "fmt" && called.Sel.Name == "Sprintf" {
			format, _ := literal(e.Args[0])
			i := 0
			return verb.ReplaceAllStringFunc(format, func(string) string {
				i++
				return p.eval(e.Args[i], locals, depth+1)
			})
		}
	}
	return unknown
}

func (p *keyPackage) nameOf(f *ast.FuncDecl) string {
	if of := receiver(f); of != "" {
		return of + "." + f.Name.Name
	}
	return p.name + "." + f.Name.Name
}

// sends tells whether an expression sends a transaction: a call of Txn with all that it sends, or of Submit, or
// one of Commit at the end of a chain that begins with Txn.
func sends(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "Commit" {
		return ok && (f.Sel.Name == "Txn" && len(call.Args) > 1 || strings.HasPrefix(f.Sel.Name, "Submit"))
	}
	for {
		call, ok := f.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		if f, ok = call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name == "Txn" {
			return ok
		}
	}
}

func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	name, _ := of.(*ast.Ident)
	return name.Name
}

// assigned are the local variables of a function, with their first values.
func assigned(f *ast.FuncDecl) map[string]ast.Expr {
	out := map[string]ast.Expr{}
	ast.Inspect(f, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.DEFINE && len(a.Lhs) == len(a.Rhs) {
			for i, to := range a.Lhs {
				if name, ok := to.(*ast.Ident); ok && out[name.Name] == nil {
					out[name.Name] = a.Rhs[i]
				}
			}
		}
		return true
	})
	return out
}

func parameters(f *ast.FuncDecl) []string {
	var out []string
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			out = append(out, name.Name)
		}
	}
	return out
}

// lastResult is what a method returns at its end.
func lastResult(f *ast.FuncDecl) ast.Expr {
	last := f.Body.List[len(f.Body.List)-1]
	if r, ok := last.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
		return r.Results[0]
	}
	return &ast.BadExpr{}
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

// The check itself, on a store made up for it.
func TestKeysAndTransactionsAreHeld(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{
		"pkg/cluster/a.go":                 file("package cluster\n\nconst dir = \"nodes/\"\n\nfunc (s *Session) put() { s.kv.Txn().If(s.root + dir + s.id).Commit() }\nfunc drop() { kv.Txn().Commit() }\n"),
		"pkg/cluster/mutex/a.go":           file("package mutex\n\nfunc Drop() { kv.Txn().Commit() }\n"),
		"internal/store/etcdstore/keys.go": file("package etcdstore\n\nfunc (k keys) all(id string) string { return fmt.Sprintf(\"%sitem/%04x/\", k.root, id) }\nfunc (k keys) gone() string { return k.root + \"gone\" }\n"),
		"internal/store/etcdstore/a.go": file("package etcdstore\n\nfunc (s *Store) Put() {\n\tat := s.keys.all(\"~x\")\n\t_ = s.keys.all(id) + id\n\ts.Txn(ctx, at + \"sub/\")\n}\n" +
			"func (s *Store) tx() { tx.Commit() }\nfunc (s *Store) Drop() { s.begin().Submit(ctx) }\n"),
		"internal/store/etcdstore/db/a.go":   file("package db\n\nfunc (s *Conn) Txn() { s.client.Txn().Commit() }\n"),
		"internal/store/etcdstore/a_test.go": file("not Go"),
		"docs/keys.md":                       file("| `nodes/<id>`, `…/self` | `nobody/x` |\n| `item/<hex>/<id>` | |\n| `items/<id>` | | `Store.Get`, `Store.Put`, `other.Put` and `store.Commit`\n"),
		"docs/keys-definitions.md":           file(""),
	}
	got := different(readCode(t, tree), readKeyPages(t, tree))
	want := []string{
		"no page has the key gone",
		"no page has the key item/~x/",
		"no page has the key item/~x/sub/",
		"no code makes the key items/*",
		"no page has the transaction of Session.put",
		"no page has the transaction of Store.Drop",
		"no page has the transaction of cluster.drop",
		"no page has the transaction of mutex.Drop",
		"no transaction is sent by Store.Get",
	}
	finds(t, got, want)
}
