package filter

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/liquid/value"
)

// numberFilters compute in decimals: 0.1 and 0.2 are 0.3. Whole numbers stay whole, of any size that fits.
var numberFilters = map[string]Filter{
	"abs": {0, 0, func(c *Call) (any, error) {
		return computed(value.Number(c.Of), nil, func(a, _ *big.Rat) *big.Rat { return a.Abs(a) })
	}},
	"plus":       {1, 1, arithmetic((*big.Rat).Add)},
	"minus":      {1, 1, arithmetic((*big.Rat).Sub)},
	"times":      {1, 1, arithmetic((*big.Rat).Mul)},
	"divided_by": {1, 1, divided(quotient)},
	"modulo":     {1, 1, divided(remainder)},
	"ceil":       {0, 0, func(c *Call) (any, error) { return rounded(value.Number(c.Of), 0, up) }},
	"floor":      {0, 0, func(c *Call) (any, error) { return rounded(value.Number(c.Of), 0, down) }},
	"round": {0, 1, func(c *Call) (any, error) {
		return rounded(value.Number(c.Of), value.Int(c.arg(0)), nearest)
	}},
	"at_least": {1, 1, func(c *Call) (any, error) { return chosen(c, -1) }},
	"at_most":  {1, 1, func(c *Call) (any, error) { return chosen(c, 1) }},
}

var (
	errZero  = errors.New("a division by zero")
	errLarge = errors.New("a number is too large to compute with")
)

func arithmetic(op func(z, x, y *big.Rat) *big.Rat) func(c *Call) (any, error) {
	return func(c *Call) (any, error) {
		return computed(value.Number(c.Of), value.Number(c.Args[0]), func(a, b *big.Rat) *big.Rat { return op(a, a, b) })
	}
}

// computed is the result of an operation on one number or two: whole if they are, and decimal otherwise.
func computed(a, b any, op func(a, b *big.Rat) *big.Rat) (any, error) {
	x, y := evaluation.Rat(a), new(big.Rat)
	if b != nil {
		y = evaluation.Rat(b)
	}
	if x == nil || y == nil {
		return nil, errLarge
	}
	return numeral(op(x, y), isWhole(a) && (b == nil || isWhole(b)))
}

func isWhole(v any) bool {
	_, decimal := v.(float64)
	return !decimal
}

// numeral is a number of a template: a whole one, or the decimal that is nearest.
func numeral(r *big.Rat, whole bool) (any, error) {
	if whole {
		i := r.Num()
		if i.IsInt64() {
			return i.Int64(), nil
		}
		if i.BitLen() > 1300 { // some 400 digits
			return nil, errLarge
		}
		return json.Number(i.String()), nil
	}
	f, _ := r.Float64()
	if f-f != 0 {
		return nil, errLarge
	}
	return f, nil
}

// divided is the result of a division of two numbers. op is not called if the second one is zero.
func divided(op func(x, y *big.Rat, whole bool) *big.Rat) func(c *Call) (any, error) {
	return func(c *Call) (any, error) {
		a, b := value.Number(c.Of), value.Number(c.Args[0])
		x, y, whole := evaluation.Rat(a), evaluation.Rat(b), isWhole(a) && isWhole(b)
		switch {
		case x == nil || y == nil:
			return nil, errLarge
		case y.Sign() == 0:
			return nil, errZero
		}
		return numeral(op(x, y, whole), whole)
	}
}

// quotient is rounded down where both numbers are whole.
func quotient(x, y *big.Rat, whole bool) *big.Rat {
	q := new(big.Rat).Quo(x, y)
	if whole {
		q.SetInt(floor(q))
	}
	return q
}

// remainder has the sign of what is divided by.
func remainder(x, y *big.Rat, _ bool) *big.Rat {
	q := quotient(x, y, true)
	return x.Sub(x, q.Mul(q, y))
}

// floor is the largest whole number that is not above r.
func floor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

type rounding func(r *big.Rat) *big.Int

var half = big.NewRat(1, 2)

func down(r *big.Rat) *big.Int { return floor(r) }

func up(r *big.Rat) *big.Int {
	n := floor(new(big.Rat).Neg(r))
	return n.Neg(n)
}

// nearest rounds a half away from zero.
func nearest(r *big.Rat) *big.Int {
	if r.Sign() < 0 {
		return up(new(big.Rat).Sub(r, half))
	}
	return down(new(big.Rat).Add(r, half))
}

// rounded rounds to some digits behind the point, or before it where they are negative.
func rounded(v any, digits int64, how rounding) (any, error) {
	r := evaluation.Rat(v)
	if r == nil {
		return nil, errLarge
	}
	digits = min(max(digits, -evaluation.MaxDigits-1), evaluation.MaxDigits+1) // a number has no more
	ten := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(max(digits, -digits)), nil))
	if digits < 0 {
		ten.Inv(ten)
	}
	r.SetInt(how(r.Mul(r, ten)))
	r.Quo(r, ten)
	return numeral(r, digits <= 0 || isWhole(v))
}

// chosen is the number, or the limit that stands behind the colon where it is on the other side of it.
func chosen(c *Call, side int) (any, error) {
	a, b := value.Number(c.Of), value.Number(c.Args[0])
	order, ok := evaluation.CompareNumbers(a, b)
	switch {
	case !ok:
		if evaluation.Rat(a) != nil {
			a = b
		}
		return nil, fmt.Errorf("%w: %s", errLarge, value.Shown(a))
	case order == side:
		return b, nil
	}
	return a, nil
}
