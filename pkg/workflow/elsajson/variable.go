package elsajson

import (
	"encoding/json"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/jsontree"
	"github.com/weft-run/weft/pkg/workflow/elsajson/names"
)

// variable reads a variable's declaration; a text declares just a name.
func (r *reader) variable(c cur) workflow.Variable {
	v := workflow.Variable{Place: r.place(c)}
	if c.Kind == jsontree.String {
		v.Name = c.Text
		return v
	}
	if c.Kind != jsontree.Object {
		r.shape(c, "a variable", "an object")
		return v
	}
	fs := r.fields(c)
	for _, f := range fs {
		switch f.name {
		case "id":
			v.ID = r.str(f)
		case "name":
			v.Name = r.str(f)
		case "typeName":
			v.Type = names.Alias(r.str(f))
		case "isArray":
			v.IsArray = r.truth(f)
		case "value":
			v.Value = f.cur.Value()
		case "storageDriverTypeName":
			v.StorageDriver = names.Driver(r.str(f))
		}
	}
	v.Value = preserved(v.Value, listed(v.Type, v.IsArray))
	v.Extra = r.keep(fs, variableFields(v), nil)
	return v
}

// listed is the alias of a declared type.
func listed(typ string, array bool) string {
	if array {
		return typ + "[]"
	}
	return typ
}

func variableFields(v workflow.Variable) fields {
	var fs fields
	fs.text("id", v.ID)
	fs.text("name", v.Name)
	fs.text("typeName", v.Type)
	if v.IsArray {
		fs.set("isArray", true)
	}
	if v.Value != nil {
		fs.set("value", v.Value)
	}
	fs.text("storageDriverTypeName", names.DriverName(v.StorageDriver))
	return fs
}

func writeVariable(v workflow.Variable) fields {
	return variableFields(v).restore(v.Extra, func(raw json.RawMessage) fields {
		return reread(raw, func(r *reader, c cur) fields { return variableFields(r.variable(c)) })
	})
}

// defInput reads the declaration of an input of a definition.
func (r *reader) defInput(c cur) workflow.Input {
	in := workflow.Input{Place: r.place(c)}
	if c.Kind != jsontree.Object {
		r.shape(c, "an input", "an object")
		return in
	}
	fs := r.fields(c)
	for _, f := range fs {
		switch f.name {
		case "name":
			in.Name = r.str(f)
		case "type":
			in.Type = names.Alias(r.str(f))
		case "description":
			in.Description = r.str(f)
		case "isArray":
			in.IsArray = r.truth(f)
		case "isRequired":
			in.Required = r.truth(f)
		case "defaultValue":
			in.Default = f.cur.Value()
		case "storageDriverType":
			in.StorageDriver = names.Driver(r.str(f))
		}
	}
	in.Default = preserved(in.Default, listed(in.Type, in.IsArray))
	in.Extra = r.keep(fs, inputFields(in), nil)
	return in
}

func inputFields(in workflow.Input) fields {
	var fs fields
	fs.text("name", in.Name)
	fs.text("type", in.Type)
	fs.text("description", in.Description)
	if in.IsArray {
		fs.set("isArray", true)
	}
	if in.Required {
		fs.set("isRequired", true)
	}
	if in.Default != nil {
		fs.set("defaultValue", in.Default)
	}
	fs.text("storageDriverType", names.DriverName(in.StorageDriver))
	return fs
}

func writeInput(in workflow.Input) fields {
	return inputFields(in).restore(in.Extra, func(raw json.RawMessage) fields {
		return reread(raw, func(r *reader, c cur) fields { return inputFields(r.defInput(c)) })
	})
}

// defOutput reads the declaration of an output of a definition.
func (r *reader) defOutput(c cur) workflow.Output {
	var out workflow.Output
	if c.Kind != jsontree.Object {
		r.shape(c, "an output", "an object")
		return out
	}
	fs := r.fields(c)
	for _, f := range fs {
		switch f.name {
		case "name":
			out.Name = r.str(f)
		case "type":
			out.Type = names.Alias(r.str(f))
		case "description":
			out.Description = r.str(f)
		case "isArray":
			out.IsArray = r.truth(f)
		case "value": // Weft's own: evaluated when the instance finishes
			if e := r.condition(f.cur); !e.IsZero() {
				out.Value = &e
			}
		}
	}
	out.Extra = r.keep(fs, outputFields(out), nil)
	return out
}

func outputFields(out workflow.Output) fields {
	var fs fields
	fs.text("name", out.Name)
	fs.text("type", out.Type)
	fs.text("description", out.Description)
	if out.IsArray {
		fs.set("isArray", true)
	}
	if out.Value != nil && !out.Value.IsZero() {
		fs.set("value", conditionFields(*out.Value))
	}
	return fs
}

func writeOutput(out workflow.Output) fields {
	return outputFields(out).restore(out.Extra, func(raw json.RawMessage) fields {
		return reread(raw, func(r *reader, c cur) fields { return outputFields(r.defOutput(c)) })
	})
}
