package typed

import (
	"regexp"
	"testing"

	"github.com/dop251/goja"

	"github.com/weft-run/weft/internal/expression/js/dotnet"
)

// Every function that the table calls is there.
func TestTheTableCallsWhatIsThere(t *testing.T) {
	t.Parallel()
	calls := regexp.MustCompile(`CSharp\.(\w+)`).FindAllStringSubmatch(members, -1)
	if len(calls) < 50 {
		t.Fatalf("%d calls", len(calls))
	}
	vm := goja.New()
	if err := vm.Set("CSharp", dotnet.Type(dotnet.Host{VM: vm}, "CSharp")); err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		if is, err := vm.RunString(`"` + c[1] + `" in CSharp`); err != nil || !is.ToBoolean() {
			t.Errorf("CSharp.%s is not there: %v", c[1], err)
		}
	}
}
