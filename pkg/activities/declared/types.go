package declared

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// maxCopies bounds what is kept of declarations with one version of a definition, in bytes.
const maxCopies = 256 << 10

// mostKnown is how many declarations are known by their digest.
const mostKnown = 2000

// Abilities are those of a program, see [engine.Abilities], which runs declared types too.
func Abilities(r *engine.Registry, evaluators []engine.Evaluator) []string {
	all := append(engine.Abilities(r, evaluators), Ability)
	slices.Sort(all)
	return all
}

// Types are the activity types of a program, and those that files declare.
type Types struct {
	base *engine.Registry
	now  *View

	mu    sync.Mutex
	known map[string]*Declaration // by digest; guarded by mu
}

// View is what activity types mean to one version of a definition, or to what is written now.
type View struct {
	Registry *engine.Registry
	declared map[string]*Declaration // by type, in lower case
}

// NewTypes joins a program's types with declared ones. An error names a type that the program has, with its file and line.
func NewTypes(base *engine.Registry, all []*Declaration) (*Types, error) {
	t := &Types{base: base, known: map[string]*Declaration{}}
	var err error
	if t.now, err = t.view(all); err != nil {
		return nil, err
	}
	return t, nil
}

// Now is the view of who writes or publishes a definition.
func (t *Types) Now() *View { return t.now }

// Of is the view of a version with which these copies were kept.
func (t *Types) Of(kept map[string]json.RawMessage) (*View, error) {
	if len(kept) == 0 {
		return &View{Registry: t.base}, nil
	}
	var all []*Declaration
	for _, typ := range slices.Sorted(maps.Keys(kept)) {
		d, err := Kept(kept[typ])
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return t.view(all)
}

func (t *Types) view(all []*Declaration) (*View, error) {
	if len(all) == 0 {
		return &View{Registry: t.base}, nil
	}
	v := &View{Registry: t.base.Wrapped(func(_ *workflow.Descriptor, a engine.Activity) engine.Activity { return a }), declared: map[string]*Declaration{}}
	var errs []error
	for _, d := range all {
		digest := d.Digest()
		if err := v.Registry.Register(d.Descriptor(), activity{d, digest}); err != nil {
			errs = append(errs, d.explained(err))
			continue
		}
		v.declared[strings.ToLower(d.Type)] = d
		t.remember(digest, d)
	}
	return v, errors.Join(errs...)
}

func (t *Types) remember(digest string, d *Declaration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.known) >= mostKnown {
		clear(t.known)
	}
	t.known[digest] = d
}

// Known is the declaration of a digest, if it was met since the program began; nil: it was not, or so many others were.
func (t *Types) Known(digest string) *Declaration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known[digest]
}

// Hash is the hash of a definition's content with what it means: that of its source, if it uses no declared type itself.
func (v *View) Hash(source string, def *workflow.Definition) string {
	used := map[string]string{}
	if len(v.declared) > 0 && def.Root != nil {
		workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
			if d := v.declared[strings.ToLower(a.Type)]; d != nil && a.Ref == nil {
				used[d.Type] = d.Digest()
			}
			return true
		})
	}
	if len(used) == 0 {
		return source
	}
	h := sha256.New()
	fmt.Fprintln(h, source)
	for _, typ := range slices.Sorted(maps.Keys(used)) {
		fmt.Fprintln(h, typ, used[typ])
	}
	return hex.EncodeToString(h.Sum(nil))[:len(source)]
}

// Split tells of what a program needs for a definition what is kept with it instead: the copies of declared types, by type. Who has
// these needs only [Ability].
func (v *View) Split(needs []string) (rest []string, kept map[string]json.RawMessage, err error) {
	size := 0
	for _, d := range v.declared {
		i := slices.Index(needs, engine.ActivityNeed(d.Type))
		if i < 0 {
			continue
		}
		if kept == nil {
			kept = map[string]json.RawMessage{}
			needs = append(slices.Clone(needs), Ability)
		}
		needs = slices.Delete(needs, i, i+1)
		kept[d.Type] = d.Copy()
		if size += len(kept[d.Type]); size > maxCopies {
			return nil, nil, workflow.Fail(workflow.CodeTooLarge, fmt.Sprintf("the definition uses declared activity types of more than %d KiB together: shorten their descriptions, or split it", maxCopies>>10))
		}
	}
	slices.Sort(needs)
	return needs, kept, nil
}

// Agrees tells whether what a definition that is used was published with means the same here; the error says what to do. A type
// that is used in both has one meaning.
func (v *View) Agrees(id string, version int, kept map[string]json.RawMessage) error {
	for _, typ := range slices.Sorted(maps.Keys(kept)) {
		d, err := Kept(kept[typ])
		if err != nil {
			return err
		}
		is := v.declared[strings.ToLower(typ)]
		switch {
		case is == nil:
			return workflow.Fail(workflow.CodeDefinitionInvalid, fmt.Sprintf("version %d of definition %s uses the declared activity type %s, and this node has no file of it: give it that file (--activities), or publish on a node that has it", version, id, typ))
		case is.Digest() != d.Digest():
			return workflow.Fail(workflow.CodeDefinitionInvalid, fmt.Sprintf("version %d of definition %s was published with another declaration of the activity type %s than this node has: publish %s again, and then this one", version, id, typ, id))
		}
	}
	return nil
}

// Add adds the types that the files of a folder declare to those of a program, for tools without a node. An error lists what is
// wrong with them.
func Add(r *engine.Registry, dir string) error {
	all, problems, err := ReadFolder(dir)
	if err = cmp.Or(err, problems.Err()); err != nil {
		return err
	}
	var errs []error
	for _, d := range all {
		if err := r.Register(d.Descriptor(), activity{d, d.Digest()}); err != nil {
			errs = append(errs, d.explained(err))
		}
	}
	return errors.Join(errs...)
}

// Copy adds the declared types among those of a registry to another one, which has none of their names.
func Copy(to, from *engine.Registry) error {
	var errs []error
	from.Wrapped(func(_ *workflow.Descriptor, a engine.Activity) engine.Activity {
		if is, ok := a.(activity); ok {
			errs = append(errs, to.Register(is.d.Descriptor(), is))
		}
		return a
	})
	return errors.Join(errs...)
}

// explained is why a type cannot be one beside those of the program.
func (d *Declaration) explained(err error) error {
	return fmt.Errorf("%s: %w: take another name", d.at, err)
}
