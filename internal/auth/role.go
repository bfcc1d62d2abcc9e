package auth

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Role is what a caller may do. Each role may do what those before it may. The
// zero value is no role at all and less than all of them, so that a route that
// forgot to name one cannot be taken for an open one.
type Role int

// The roles, from the least to the most.
const (
	// Anyone is everybody, also without credentials. As the role of a caller it is
	// that of one who is known and has no role.
	Anyone Role = iota + 1
	// Business sees and decides its own user tasks, and nothing else.
	Business
	// Viewer reads.
	Viewer
	// Operator starts, resumes, cancels and repairs instances.
	Operator
	// Designer publishes, retracts and deletes definitions.
	Designer
	// Admin acts on the whole cluster: pause, drain, imported state.
	Admin
)

var roleNames = map[Role]string{Anyone: "anyone", Business: "business", Viewer: "viewer", Operator: "operator", Designer: "designer", Admin: "admin"}

func (r Role) String() string {
	if name, ok := roleNames[r]; ok {
		return name
	}
	return fmt.Sprintf("Role(%d)", int(r))
}

// ParseRole reads a role that a caller can be given: business, viewer, operator,
// designer or admin.
func ParseRole(name string) (Role, error) {
	for r := Business; r <= Admin; r++ {
		if roleNames[r] == name {
			return r, nil
		}
	}
	return 0, fmt.Errorf("there is no role %q; the roles are business, viewer, operator, designer and admin", name)
}

// MarshalJSON writes the number that a session has. Programs of before had no [Business] and read its number as a role that may
// nothing: so each role keeps the number that they know.
func (r Role) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, int64(max(r-1, 0)), 10), nil
}

// UnmarshalJSON reads it. What is none of them is no role.
func (r *Role) UnmarshalJSON(raw []byte) error {
	n, err := strconv.Atoi(string(raw))
	if *r = Role(n + 1); err != nil || *r < Business || *r > Admin {
		*r = 0
	}
	return nil
}

// Principal is a caller who is known. It is shared and must not be changed.
type Principal struct {
	// Name is unique: "key:" and the name of an API key, or "oidc:" and the
	// subject of a JWT. It is no secret.
	Name string
	Role Role
	// Groups are the values of the role claim of a JWT, as the provider wrote them, or those of an API key in its file.
	Groups []string
	// By is what the caller is known by.
	By Means
	// Expires is when that ends by itself; zero: never.
	Expires time.Time
}

// Means is what a caller is known by.
type Means string

// The means.
const (
	ByKey     Means = "key"     // an API key
	ByToken   Means = "token"   // a token of the provider
	BySession Means = "session" // a session of the console
)

// Satisfies tells whether the caller satisfies a policy: none, the name of a role
// that the caller has, or a group of the caller's token or key. The name of a role means
// that role, and never a group that is called so: where roles are mapped it is
// somebody else's word.
func (p *Principal) Satisfies(policy string) bool {
	if policy == "" {
		return true
	}
	if r, err := ParseRole(strings.ToLower(policy)); err == nil {
		return p.Role >= r
	}
	for _, g := range p.Groups {
		if g == policy {
			return true
		}
	}
	return false
}
