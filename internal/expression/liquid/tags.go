package liquid

import (
	"regexp"
	"strings"

	"github.com/weft-run/weft/internal/expression/evaluation"
)

// builder makes nodes of tokens.
type builder struct {
	tokens []token
	next   int
	open   []string // the blocks that are open, from the outside
}

// parse reads a template, of which these are the tokens.
func parse(all []token) (nodes, error) {
	b := &builder{tokens: all}
	body, t, err := b.block()
	if err == nil && t != nil {
		err = misplaced(*t, "")
	}
	return body, err
}

// block reads nodes up to a tag that belongs to the block that is open, which it gives, or to the end: then it gives none.
func (b *builder) block() (body nodes, end *token, err error) {
	for b.next < len(b.tokens) {
		t := &b.tokens[b.next]
		b.next++
		switch t.kind {
		case plainText:
			body = append(body, text(t.text))
			continue
		case output:
			n, err := outputOf(*t)
			if err != nil {
				return nil, nil, err
			}
			body = append(body, n)
			continue
		}
		if strings.HasPrefix(t.name, "end") && blocks[t.name[3:]] || t.name == "else" || t.name == "elsif" || t.name == "when" {
			return body, t, nil
		}
		n, err := b.tag(*t)
		if err != nil {
			return nil, nil, err
		}
		if n != nil {
			body = append(body, n)
		}
	}
	return body, nil, nil
}

// blocks are the tags that something ends.
var blocks = map[string]bool{"if": true, "unless": true, "case": true, "for": true, "tablerow": true, "capture": true, "comment": true, "raw": true}

func outputOf(t token) (node, error) {
	if t.text == "" {
		return nil, mistaken(t.at, "%w", errNothing)
	}
	e, err := whole(t.text, t.args)
	return valued{t.at, e}, err
}

// tag reads a tag with all that is within it.
func (b *builder) tag(t token) (node, error) {
	switch t.name {
	case "if", "unless":
		return b.conditional(t)
	case "case":
		return b.choice(t)
	case "for", "tablerow":
		return b.loop(t)
	case "capture":
		name := strings.Trim(t.text, `"'`)
		if m := firstName.FindString(name); m == "" || m != name {
			return nil, newReader(t.text, t.args).unread()
		}
		body, err := b.within(t)
		return captured{name, body}, err
	case "raw", "comment":
		body, err := b.within(t)
		if t.name == "comment" {
			body = nil
		}
		return body, err
	case "liquid":
		return b.lines(t)
	}
	return simple(t)
}

// simple reads a tag that stands alone.
func simple(t token) (node, error) {
	r := newReader(t.text, t.args)
	switch t.name {
	case "#":
		return nil, nil
	case "assign":
		name := r.take()
		if !firstName.MatchString(name) || !r.accept("=") {
			return nil, r.unread()
		}
		e, err := r.condition()
		if err == nil {
			err = r.end()
		}
		return assigned{t.at, name, e}, err
	case "echo":
		e, err := whole(t.text, t.args)
		return valued{t.at, e}, err
	case "increment", "decrement":
		name := r.take()
		if !firstName.MatchString(name) || r.end() != nil {
			return nil, r.unread()
		}
		if t.name == "decrement" {
			return counted{name, -1}, nil
		}
		return counted{name, 1}, nil
	case "cycle":
		return cycle(t, r)
	case "break":
		return jump{errBreak}, r.end()
	case "continue":
		return jump{errContinue}, r.end()
	case "include", "render", "layout", "section":
		return nil, mistaken(t.at, "%s is not available: templates read no files", t.name)
	case "":
		return nil, mistaken(t.at, "nothing stands between {%% and %%}")
	}
	return nil, mistaken(t.at, "there is no tag %s%s", evaluation.Excerpt(t.name), otherTag(t.name))
}

// opens opens a block; done closes it.
func (b *builder) opens(t token) (done func(), err error) {
	if len(b.open) >= evaluation.MaxDepth {
		return nil, &mistake{t.at, evaluation.ErrDepth}
	}
	b.open = append(b.open, t.name)
	return func() { b.open = b.open[:len(b.open)-1] }, nil
}

// ended is the error of a block that ends in another way than by its own tag; nil if it is that.
func ended(t token, end *token) error {
	switch {
	case end == nil:
		return mistaken(t.at, "%s has no end%s", t.name, t.name)
	case end.name != "end"+t.name:
		return misplaced(*end, t.name)
	}
	return nil
}

// within reads the content of a block without branches.
func (b *builder) within(t token) (nodes, error) {
	done, err := b.opens(t)
	if err != nil {
		return nil, err
	}
	defer done()
	body, end, err := b.block()
	if err == nil {
		err = ended(t, end)
	}
	return body, err
}

func (b *builder) conditional(t token) (node, error) {
	done, err := b.opens(t)
	if err != nil {
		return nil, err
	}
	defer done()
	when, err := whole(t.text, t.args)
	if err != nil {
		return nil, err
	}
	out, now, final := branches{}, branch{at: t.at, when: when, not: t.name == "unless"}, false
	for {
		body, end, err := b.block()
		if err != nil {
			return nil, err
		}
		now.body = body
		out.of = append(out.of, now)
		if end == nil || end.name != "elsif" && end.name != "else" || final {
			return out, ended(t, end)
		}
		now = branch{at: end.at}
		if final = end.name == "else"; !final {
			if now.when, err = whole(end.text, end.args); err != nil {
				return nil, err
			}
		}
	}
}

func (b *builder) choice(t token) (node, error) {
	done, err := b.opens(t)
	if err != nil {
		return nil, err
	}
	defer done()
	value, err := whole(t.text, t.args)
	if err != nil {
		return nil, err
	}
	out := branches{all: true}
	_, end, err := b.block() // what precedes the first when is not rendered
	for {
		if err != nil {
			return nil, err
		}
		if end == nil || end.name != "when" && end.name != "else" {
			return out, ended(t, end)
		}
		now := branch{at: end.at}
		if end.name == "when" {
			if now.when, err = matches(value, *end); err != nil {
				return nil, err
			}
		}
		now.body, end, err = b.block()
		out.of = append(out.of, now)
	}
}

// matches reads the values of a when, which commas or the word or part.
func matches(value expression, t token) (expression, error) {
	m, r := matched{value: value}, newReader(t.text, t.args)
	for {
		e, err := r.value()
		if err != nil {
			return nil, err
		}
		m.any = append(m.any, e)
		if !r.accept(",") && !r.accept("or") {
			return m, r.end()
		}
	}
}

func (b *builder) loop(t token) (node, error) {
	done, err := b.opens(t)
	if err != nil {
		return nil, err
	}
	defer done()
	r := newReader(t.text, t.args)
	n := &loop{at: t.at, name: r.take(), table: t.name == "tablerow"}
	if !firstName.MatchString(n.name) || !r.accept("in") {
		return nil, r.unread()
	}
	from := r.next
	if n.over, err = r.filtered(); err != nil {
		return nil, err
	}
	n.key = n.name + "-" + r.code[r.words[from][0]:r.words[r.next-1][1]]
	if err := n.options(r); err != nil {
		return nil, err
	}
	body, end, err := b.block()
	if err == nil && end != nil && end.name == "else" && !n.table {
		n.body = body
		n.none, end, err = b.block()
	} else {
		n.body = body
	}
	if err == nil {
		err = ended(t, end)
	}
	return n, err
}

// options reads limit, offset, cols and reversed, in any order, with or without commas.
func (n *loop) options(r *reader) (err error) {
	for r.peek() != "" {
		r.accept(",")
		word := r.take()
		if word == "reversed" {
			n.reversed = true
			continue
		}
		if !r.accept(":") {
			return r.unread()
		}
		if word == "offset" && r.accept("continue") {
			n.resume = true
			continue
		}
		v, err := r.value()
		if err != nil {
			return err
		}
		switch {
		case word == "limit":
			n.limit = v
		case word == "offset":
			n.offset = v
		case word == "cols" && n.table:
			n.cols = v
		default:
			return r.unread()
		}
	}
	return nil
}

func cycle(t token, r *reader) (node, error) {
	n := cycled{at: t.at, key: t.text}
	first, err := r.value()
	if err != nil {
		return nil, err
	}
	if r.accept(":") {
		n.group = first
		if first, err = r.value(); err != nil {
			return nil, err
		}
	}
	n.of = append(n.of, first)
	for r.accept(",") {
		e, err := r.value()
		if err != nil {
			return nil, err
		}
		n.of = append(n.of, e)
	}
	return n, r.end()
}

var lineOfLiquid = regexp.MustCompile(`[^\n]+`)

// lines reads {% liquid %}: each line of it is a tag.
func (b *builder) lines(t token) (node, error) {
	inner := &builder{open: b.open, tokens: t.lines()}
	body, end, err := inner.block()
	if err == nil && end != nil {
		err = misplaced(*end, "")
	}
	return body, err
}

// lines are the tags of {% liquid %}. What its comments hold is nothing.
func (t token) lines() (out []token) {
	comments := 0
	for _, span := range lineOfLiquid.FindAllStringIndex(t.text, -1) {
		line := t.text[span[0]:span[1]]
		code := strings.Trim(line, space)
		if code == "" {
			continue
		}
		at := t.args + span[0] + strings.Index(line, code)
		name := tagName.FindString(code)
		args := strings.TrimLeft(code[len(name):], space)
		if name == "endcomment" {
			comments = max(0, comments-1)
		}
		if comments == 0 {
			out = append(out, token{kind: tag, at: at, name: name, text: args, args: at + len(code) - len(args)})
		}
		if name == "comment" {
			comments++
		}
	}
	return out
}
