package auth_test

import (
	"encoding/json"
	"testing"

	"github.com/weft-run/weft/internal/auth"
)

// Sessions have the numbers that programs before the role business wrote and read: none of them gives more than it did.
func TestARoleKeepsItsNumber(t *testing.T) {
	t.Parallel()
	for role, want := range map[auth.Role]string{auth.Business: "1", auth.Viewer: "2", auth.Operator: "3", auth.Designer: "4", auth.Admin: "5"} {
		raw, err := json.Marshal(role)
		if err != nil || string(raw) != want {
			t.Errorf("%s is %s, %v", role, raw, err)
		}
		var is auth.Role
		if err := json.Unmarshal(raw, &is); err != nil || is != role {
			t.Errorf("%s reads as %s, %v", role, is, err)
		}
	}
	for _, none := range []string{"0", "-1", "6", "99999999999999999999", `"admin"`, "null", "1.5"} {
		var is auth.Role
		if err := json.Unmarshal([]byte(none), &is); err != nil || is != 0 {
			t.Errorf("%s reads as %s, %v", none, is, err)
		}
	}
	if r, err := auth.ParseRole("business"); err != nil || r != auth.Business || auth.Business >= auth.Viewer {
		t.Errorf("%s, %v", r, err)
	}
}
