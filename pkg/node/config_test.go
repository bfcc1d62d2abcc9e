package node

import (
	"reflect"
	"testing"
)

// A default that only the command knew would be another one in a program that
// embeds a node.
func TestZeroFieldsHaveTheirDefaults(t *testing.T) {
	t.Parallel()
	filled, err := Config{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	got, want := reflect.ValueOf(filled), reflect.ValueOf(DefaultConfig())
	some := 0
	for i := range want.NumField() {
		if want.Field(i).IsZero() {
			continue
		}
		some++
		if want.Type().Field(i).Name == "Console" {
			continue // on is for a node with wings, and this has none
		}
		if g, w := got.Field(i).Interface(), want.Field(i).Interface(); !reflect.DeepEqual(g, w) {
			t.Errorf("%s of the zero configuration is %v, want %v", want.Type().Field(i).Name, g, w)
		}
	}
	if some < 10 {
		t.Errorf("only %d fields have a default", some)
	}
}
