package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Case is one entry of cases.json.
type Case struct {
	Name      string         `json:"name"`
	Publish   []string       `json:"publish"`   // files, in this order
	Run       string         `json:"run"`       // definition to execute
	HTTP      *Request       `json:"http"`      // or a request to send
	Input     map[string]any `json:"input"`     // of Run
	Until     string         `json:"until"`     // "end": resume every bookmark as it comes, until the instance is finished
	Lines     []string       `json:"lines"`     // exactly these, in this order, over parent and children
	Contains  []string       `json:"contains"`  // at least these
	Status    string         `json:"status"`    // of the instance
	SubStatus string         `json:"subStatus"` // of the instance
	Problems  *int           `json:"problems"`  // of publishing
	Mode      string         `json:"mode"`      // "token": token-based flowcharts
	Steps     []Step         `json:"steps"`     // or what is done and expected, in this order

	Source  string `json:"source"`  // what the case is written after
	Asserts string `json:"asserts"` // in words
	Note    string `json:"note"`
}

// Request is an HTTP request and its answer.
type Request struct {
	Method      string `json:"method"`
	Path        string `json:"path"`
	RequestBody string `json:"requestBody"`
	Status      int    `json:"status"`
	Body        string `json:"body"`
}

// load reads cases.json. A field that this program does not know is an error:
// an expectation that is not looked at would pass.
func load(dir string) ([]Case, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	var cases []Case
	if err := dec.Decode(&cases); err != nil {
		return nil, fmt.Errorf("read cases.json: %w", err)
	}
	for _, c := range cases {
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("case %q: %w", c.Name, err)
		}
	}
	return cases, nil
}

func (c Case) check() error {
	switch {
	case c.Name == "" || len(c.Publish) == 0:
		return fmt.Errorf("a case has a name and files to publish")
	case c.Run != "" && c.HTTP != nil || c.Steps != nil && (c.Run != "" || c.HTTP != nil):
		return fmt.Errorf("run, http and steps exclude each other")
	case c.Run == "" && c.HTTP == nil && c.Problems == nil && c.Steps == nil:
		return fmt.Errorf("it does nothing: there is no run, http, steps or problems")
	case c.Until != "" && c.Until != "end":
		return fmt.Errorf("until is %q; it can only be end", c.Until)
	case c.Mode != "" && c.Mode != "token":
		return fmt.Errorf("mode is %q; it can only be token", c.Mode)
	}
	for i, s := range c.Steps {
		if err := s.check(); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}
