package usertask

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/weft-run/weft/pkg/workflow"
)

// Field is one of a form.
type Field struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"` // string, number, integer or boolean
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Format      string   `json:"format,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Default     any      `json:"default,omitempty"`
	Required    bool     `json:"required,omitempty"`
	Long        bool     `json:"long,omitempty"`   // a text of several lines
	Masked      bool     `json:"masked,omitempty"` // its value is shown nowhere
}

// The bounds of a form and of its data.
const (
	mostFields  = 100
	mostText    = 32 << 10  // bytes of one field
	mostData    = 256 << 10 // of all
	mostWrong   = 20        // problems that are told
	mostPattern = 1000      // bytes
	mostDigits  = 100       // bytes of a number
	// mostSteps is how many steps the patterns of a form may have together: matching 32 KiB takes them once for each byte.
	mostSteps = 2000
)

var (
	ofForm  = []string{"type", "title", "description", "properties", "required", "order", "additionalProperties"}
	ofField = []string{
		"type", "title", "description", "enum", "default", "format", "minLength", "maxLength", "pattern",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "widget", "masked",
	}
	types   = []string{"string", "number", "integer", "boolean"}
	formats = []string{"date", "time", "date-time", "email", "uri"}
	widgets = []string{"textarea"}

	// What is for fields of a type only: elsewhere a validator skips it, and nobody would be told.
	ofText   = []string{"enum", "format", "widget", "pattern", "minLength", "maxLength"}
	ofNumber = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
)

// form is a form as it is written: a JSON Schema of one object.
type form struct {
	Type                 string                     `json:"type"`
	Title                string                     `json:"title"`
	Description          string                     `json:"description"`
	Properties           map[string]json.RawMessage `json:"properties"`
	Required             []string                   `json:"required"`
	Order                []string                   `json:"order"`
	AdditionalProperties *bool                      `json:"additionalProperties"`

	fields []Field
	steps  int // of the patterns so far
	schema *jsonschema.Schema
}

type property struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
	Default     any      `json:"default"`
	Format      string   `json:"format"`
	Widget      string   `json:"widget"`
	Masked      bool     `json:"masked"`
	Pattern     string   `json:"pattern"`
}

// CheckForm tells what is wrong with a form: it is a JSON Schema of one object with fields of text, number or truth value.
func CheckForm(raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	if len(raw) > mostForm {
		return fmt.Errorf("form has %d bytes: it may have up to %d", len(raw), mostForm)
	}
	_, err := read(raw)
	return err
}

// read reads a form with its schema. Errors name the field.
func read(raw json.RawMessage) (*form, error) {
	f, err := parse(raw)
	if err != nil {
		return nil, err
	}
	return f, f.compile()
}

// parse reads a form as far as it is to be shown.
func parse(raw json.RawMessage) (*form, error) {
	var f form
	if err := members("form", raw, ofForm, &f); err != nil {
		return nil, err
	}
	switch {
	case f.Type != "" && f.Type != "object":
		return nil, fmt.Errorf("form is of type %q; it has to be object", workflow.Shorten(f.Type))
	case f.AdditionalProperties != nil && *f.AdditionalProperties:
		return nil, errors.New("form has additionalProperties; a form takes its own fields only")
	case len(f.Properties) == 0 || len(f.Properties) > mostFields:
		return nil, fmt.Errorf("form has %d properties; it may have 1 to %d", len(f.Properties), mostFields)
	}
	for _, names := range [][]string{f.Required, f.Order} {
		for _, name := range names {
			if _, ok := f.Properties[name]; !ok {
				return nil, fmt.Errorf("form names the field %s in required or order, and has none of that name", workflow.Shorten(name))
			}
		}
	}
	names := slices.Sorted(maps.Keys(f.Properties))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(f.place(a), f.place(b)) })
	for _, name := range names {
		if err := f.read(name); err != nil {
			return nil, err
		}
	}
	return &f, nil
}

// place is where a field stands: as order says, and behind those the others by name.
func (f *form) place(name string) int {
	if i := slices.Index(f.Order, name); i >= 0 {
		return i
	}
	return len(f.Order)
}

func (f *form) read(name string) error {
	if err := workflow.CheckName("the name of a field", name); err != nil || name == "" {
		return cmp.Or(err, errors.New("a field of the form has an empty name"))
	}
	var p property
	at := "field " + workflow.Shorten(name) + " of form"
	if err := members(at, f.Properties[name], ofField, &p); err != nil {
		return err
	}
	for _, word := range []struct {
		name, is string
		of       []string
	}{{"type", cmp.Or(p.Type, "string"), types}, {"format", cmp.Or(p.Format, formats[0]), formats}, {"widget", cmp.Or(p.Widget, widgets[0]), widgets}} {
		if !slices.Contains(word.of, word.is) {
			return fmt.Errorf("%s: %s is %q, and none of %s", at, word.name, workflow.Shorten(word.is), strings.Join(word.of, ", "))
		}
	}
	if p.Type == "" {
		return fmt.Errorf("%s has no type: one of %s", at, strings.Join(types, ", "))
	}
	if err := f.fitting(at, name, &p); err != nil {
		return err
	}
	if err := f.pattern(at, p.Pattern); err != nil {
		return err
	}
	switch p.Default.(type) {
	case nil, string, bool, json.Number:
	default:
		return fmt.Errorf("%s: default is no text, number or truth value", at)
	}
	f.fields = append(f.fields, Field{
		Name: name, Type: p.Type, Title: cmp.Or(p.Title, name), Description: p.Description, Format: p.Format, Enum: p.Enum, Default: p.Default,
		Required: slices.Contains(f.Required, name), Long: p.Widget != "", Masked: p.Masked,
	})
	return nil
}

// fitting tells what a field has that is not for one of its type.
func (f *form) fitting(at, name string, p *property) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(f.Properties[name], &given); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	for word, raw := range given {
		var n json.Number
		switch {
		case slices.Contains(ofText, word) && p.Type != "string":
			return fmt.Errorf("%s: %s are for a string", at, strings.Join(ofText, ", "))
		case slices.Contains(ofNumber, word) && p.Type != "number" && p.Type != "integer":
			return fmt.Errorf("%s: %s are for a number or integer", at, strings.Join(ofNumber, ", "))
		case slices.Contains(ofNumber, word) && json.Unmarshal(raw, &n) == nil && excessive(n):
			return fmt.Errorf("%s: %s has to be a number that a float64 can be near, of up to %d digits", at, word, mostDigits)
		}
	}
	_, choice := given["enum"]
	switch {
	case choice && len(p.Enum) == 0:
		return fmt.Errorf("%s: enum is empty, so nothing would fit", at)
	case p.Masked && p.Default != nil:
		return fmt.Errorf("%s is masked, and has a default: that would be shown", at)
	}
	return nil
}

// pattern tells what is wrong with one. A short one can be a long program, such as (.{0,1000})*, and is run for each byte.
func (f *form) pattern(at, text string) error {
	if text == "" {
		return nil
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil || len(text) > mostPattern {
		return fmt.Errorf("%s: pattern is none that is taken here (RE2, up to %d bytes)", at, mostPattern)
	}
	program, err := syntax.Compile(re.Simplify())
	if err != nil {
		return fmt.Errorf("%s: pattern: %w", at, err)
	}
	if f.steps += len(program.Inst); f.steps > mostSteps {
		return fmt.Errorf("%s: with its pattern those of the form have %d steps together, and may have %d: count with minLength and maxLength, not with {…}", at, f.steps, mostSteps)
	}
	return nil
}

// members reads an object that may have these members.
func members(at string, raw json.RawMessage, known []string, into any) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil || all == nil {
		return fmt.Errorf("%s is no object", at)
	}
	if _, ok := all["providerName"]; ok {
		return fmt.Errorf("%s names a form of a provider, and there are none here: write it as a JSON Schema", at)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%s: %s is none of what a form may have here%s: %s", at, workflow.Shorten(name), workflow.DidYouMean(name, known), strings.Join(known, ", "))
		}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}

// noLoader reads nothing: a form refers to nothing outside.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) { return nil, fmt.Errorf("%s is not read", url) }

const formURL = "form:form"

func (f *form) compile() error {
	properties := map[string]any{}
	for name, raw := range f.Properties {
		p, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			return err
		}
		properties[name] = p
	}
	required := make([]any, len(f.Required))
	for i, name := range f.Required {
		required[i] = name
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.AssertFormat()
	err := c.AddResource(formURL, map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false})
	if err == nil {
		f.schema, err = c.Compile(formURL)
	}
	if err != nil {
		return fmt.Errorf("form is no valid JSON Schema: %s", workflow.Shorten(lastLine(err.Error())))
	}
	return nil
}

func lastLine(text string) string {
	return strings.TrimLeft(text[strings.LastIndexByte(text, '\n')+1:], "- ")
}

// Fields are those of the task's form in their order; none: it takes no data.
func (t *Task) Fields() ([]Field, error) {
	if len(t.Form) == 0 {
		return nil, nil
	}
	f, err := parse(t.Form)
	if err != nil {
		return nil, err
	}
	return f.fields, nil
}

// Split divides the data of a form into what may be shown, and what is masked.
func (t *Task) Split(data map[string]any) (shown, masked map[string]any, err error) {
	fields, err := t.Fields()
	shown, masked = map[string]any{}, map[string]any{}
	for i := range fields {
		f := &fields[i]
		if v, given := data[f.Name]; given && f.Masked {
			masked[f.Name] = v
		} else if given {
			shown[f.Name] = v
		}
	}
	return shown, masked, err
}

// Fits tells what is wrong with how somebody completes a task, each with the pointer to it in a body {outcome, data}.
func (t *Task) Fits(outcome string, data map[string]any) (workflow.Problems, error) {
	if !t.Has(outcome) {
		return workflow.Problems{wrong("bad-outcome", "/outcome", fmt.Sprintf("the outcome is %q; it is one of %s%s", workflow.Shorten(outcome), strings.Join(t.Keys(), ", "), workflow.DidYouMean(outcome, t.Keys())))}, nil
	}
	if len(t.Form) == 0 {
		if len(data) > 0 {
			return workflow.Problems{wrong("no-form", "/data", "this task has no form, and takes no data")}, nil
		}
		return nil, nil
	}
	f, err := read(t.Form)
	if err != nil {
		return nil, err
	}
	if problems := f.bounds(data); problems != nil {
		return problems, nil
	}
	if data == nil {
		data = map[string]any{}
	}
	return f.fits(data)
}

// fits holds data against the schema.
func (f *form) fits(data map[string]any) (problems workflow.Problems, err error) {
	given := make(map[string]any, len(data))
	maps.Copy(given, data)
	switch err := f.schema.Validate(given).(type) { //nolint:errorlint // it gives its own type
	case nil:
		return nil, nil
	case *jsonschema.ValidationError:
		f.tell(err, &problems)
		slices.SortStableFunc(problems, func(a, b workflow.Problem) int { return cmp.Compare(a.Place.Pointer, b.Place.Pointer) })
		return problems[:min(len(problems), mostWrong)], nil
	default:
		return nil, err
	}
}

// bounds tells of data that are too many to be looked at further.
func (f *form) bounds(data map[string]any) (problems workflow.Problems) {
	all := 0
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if len(problems) == mostWrong {
			return problems
		}
		if !f.has(name) {
			problems = append(problems, wrong("unknown-field", pointer(name), fmt.Sprintf("the form has no field %s%s", workflow.Shorten(name), workflow.DidYouMean(name, slices.Sorted(maps.Keys(f.Properties))))))
			continue
		}
		if n, ok := data[name].(json.Number); ok && excessive(n) {
			problems = append(problems, wrong("bad-field", pointer(name), fmt.Sprintf("%s has to be a number that a float64 can be near, of up to %d digits", f.title(name), mostDigits)))
			continue
		}
		text, _ := data[name].(string)
		if all += len(text); len(text) > mostText {
			problems = append(problems, wrong("too-long", pointer(name), fmt.Sprintf("%s has %d bytes: it may have up to %d", f.title(name), len(text), mostText)))
		}
	}
	if all > mostData && problems == nil {
		problems = append(problems, wrong("too-long", "/data", fmt.Sprintf("the fields have %d bytes together: they may have up to %d", all, mostData)))
	}
	return problems
}

// excessive tells whether a number is too long or too large to be computed with: 1e999999 is short, and has a million digits.
func excessive(n json.Number) bool {
	_, err := n.Float64()
	return err != nil || len(n) > mostDigits
}

func (f *form) has(name string) bool { _, ok := f.Properties[name]; return ok }

func (f *form) field(name string) *Field {
	if i := slices.IndexFunc(f.fields, func(f Field) bool { return f.Name == name }); i >= 0 {
		return &f.fields[i]
	}
	return &Field{Title: name}
}

func (f *form) title(name string) string { return workflow.Shorten(f.field(name).Title) }

// tell gathers the problems at the ends of what the library says.
func (f *form) tell(e *jsonschema.ValidationError, into *workflow.Problems) {
	for _, cause := range e.Causes {
		f.tell(cause, into)
	}
	if len(e.Causes) > 0 {
		return
	}
	if missing, ok := e.ErrorKind.(*kind.Required); ok {
		for _, name := range missing.Missing {
			*into = append(*into, wrong("missing-field", pointer(name), f.title(name)+" is required"))
		}
		return
	}
	name := strings.Join(e.InstanceLocation[:min(1, len(e.InstanceLocation))], "")
	*into = append(*into, wrong("bad-field", pointer(name), f.title(name)+" "+why(e.ErrorKind)))
}

// why says what is wrong with a value, and nothing of the value.
func why(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "has to be " + strings.Join(k.Want, " or ")
	case *kind.Enum:
		var all []string
		for _, v := range k.Want {
			all = append(all, workflow.Shorten(fmt.Sprint(v)))
		}
		return "is none of " + strings.Join(all[:min(len(all), mostWrong)], ", ")
	case *kind.Format:
		return "has to be a " + k.Want
	case *kind.Pattern:
		return "has to match " + workflow.Shorten(k.Want)
	case *kind.MinLength:
		return fmt.Sprintf("has to have %d characters or more", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("has %d characters: it may have up to %d", k.Got, k.Want)
	case *kind.Minimum:
		return "has to be " + number(k.Want) + " or more"
	case *kind.Maximum:
		return "has to be " + number(k.Want) + " or less"
	case *kind.ExclusiveMinimum:
		return "has to be above " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "has to be below " + number(k.Want)
	case *kind.MultipleOf:
		return "has to be a multiple of " + number(k.Want)
	}
	return "does not fit the form"
}

func number(r *big.Rat) string {
	if r.IsInt() {
		return r.RatString()
	}
	f, _ := r.Float64()
	return fmt.Sprint(f)
}

func wrong(code, at, detail string) workflow.Problem {
	return workflow.Problem{Code: code, Place: workflow.Place{Pointer: at}, Detail: detail}
}

func pointer(field string) string {
	if field == "" {
		return "/data"
	}
	return "/data/" + workflow.PointerToken(workflow.Shorten(field))
}
