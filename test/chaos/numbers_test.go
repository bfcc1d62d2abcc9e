package chaos

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/store/etcdstore"
)

// Each token goes with a whole number that no float64 holds. It has to be the
// same in every place where the two are seen: in keys of every kind, in what
// workflows write and in what the API answers.

// numberOf is the number of a token. A child's is that of its parent, which
// hands it on.
func numberOf(token string) int64 {
	if strings.HasPrefix(token, "parent-") {
		token, _, _ = strings.Cut(token, ".")
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(token))
	n := h.Sum64()
	odd := int64(n>>2) | 1<<60 | 1 // beyond 2^53, and its last bit counts
	switch n % 8 {
	case 0:
		return -odd
	case 1:
		return math.MaxInt64
	case 2:
		return math.MinInt64 + 1
	case 3:
		return 1<<53 + 1
	}
	return odd
}

// line is what a workflow writes that took a token.
func line(token string) string {
	return "token " + token + " " + strconv.FormatInt(numberOf(token), 10)
}

// tokenIn gives the token that a line tells of.
func tokenIn(text string) (token string, is bool) {
	rest, is := strings.CutPrefix(text, "token ")
	token, _, _ = strings.Cut(rest, " ")
	return token, is
}

// payloadOf is what an event with this token carries: the same each time, so that
// repeats of a keyed call are repeats.
func payloadOf(token string, sizes sizing) map[string]any {
	p := map[string]any{"token": token, "number": numberOf(token)}
	if n := sizes.of(token); n > 0 {
		p["pad"] = noise(token, n)
	}
	return p
}

// sizing says how large payloads are: a small share of them beyond the size at
// which values are compressed, and, in some rounds, up to what fits.
type sizing struct{ large bool }

// largestPayload is what an event for one instance may always have: of what the
// instance keeps and a command holds, two copies and the journal fit into one
// commit of 1.4 MiB.
const largestPayload = 400 << 10

// largestForSeveral keeps a round's traffic within what an etcd on this machine
// takes: it is written once for each target.
const largestForSeveral = 60 << 10

func (s sizing) of(token string) int {
	h := fnv.New64()
	_, _ = h.Write([]byte(token))
	r := rand.New(rand.NewPCG(h.Sum64(), 3))
	most := largestPayload
	if forSeveral(token) {
		most = largestForSeveral
	}
	switch n := r.IntN(1000); {
	case s.large && n < 15:
		return most
	case s.large && n < 40:
		return 1 + r.IntN(most)
	case n < 80:
		return 1 + r.IntN(20<<10)
	}
	return 0
}

// forSeveral: the event of this token is for several instances.
func forSeveral(token string) bool {
	return strings.HasPrefix(token, "all-") || strings.HasPrefix(token, "crowd-")
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 !#$%()*+,-./:;=?@[]^_{|}~"

// noise is text that no compression makes much smaller.
func noise(token string, n int) string {
	h := fnv.New64()
	_, _ = h.Write([]byte(token))
	r := rand.New(rand.NewPCG(h.Sum64(), 5))
	raw := make([]byte, n)
	for i := range raw {
		raw[i] = letters[r.IntN(len(letters))]
	}
	return string(raw)
}

// plain is a stored value as JSON, nil if it is none.
func plain(value []byte) []byte {
	var raw json.RawMessage
	if len(value) == 0 || etcdstore.Decode(value, &raw) != nil {
		return nil
	}
	return raw
}

// numbers checks the numbers of one stored value.
func (h *history) numbers(kind, name string, raw []byte) {
	wrong, seen := wrongNumbers(raw)
	h.numbered[kind] += int64(seen)
	for _, w := range wrong {
		h.problem("number", "%s: %s", name, w)
	}
}

// wrongNumbers finds tokens in JSON whose number is another one; seen is how many
// have one.
func wrongNumbers(raw []byte) (wrong []string, seen int) {
	if !bytes.Contains(raw, []byte(`"token"`)) {
		return nil, 0
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil, 0
	}
	walk(v, func(token string, number any) {
		seen++
		if n, _ := number.(json.Number); n.String() != strconv.FormatInt(numberOf(token), 10) {
			wrong = append(wrong, token+" goes with "+describeNumber(number)+", not "+strconv.FormatInt(numberOf(token), 10))
		}
	})
	return wrong, seen
}

func describeNumber(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}

// walk visits every object that has a token and a number.
func walk(v any, visit func(token string, number any)) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			walk(x, visit)
		}
	case map[string]any:
		token, is := v["token"].(string)
		if number, has := v["number"]; is && has {
			visit(token, number)
		}
		for _, x := range v {
			walk(x, visit)
		}
	}
}
