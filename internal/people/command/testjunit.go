package command

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"strings"
	"unicode"

	"github.com/weft-run/weft/pkg/workflowtest"
)

// The form of JUnit, as servers that show tests read it: suites of cases, a failure in each that failed.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Failure *junitFailure `xml:"failure"`
		Error   *junitFailure `xml:"error"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes a report for servers that show tests.
func writeJUnit(file string, r *testReport) error {
	out := junitSuites{Tests: r.Passed + r.Failed + len(r.Errors), Failures: r.Failed, Errors: len(r.Errors)}
	for _, f := range r.Files {
		s := junitSuite{Name: inXML(f.File), Tests: len(f.Cases), Failures: f.Failed()}
		for _, c := range f.Cases {
			s.Cases = append(s.Cases, junitOf(f.File, c))
		}
		out.Suites = append(out.Suites, s)
	}
	for _, text := range r.Errors {
		first, _, _ := strings.Cut(text, "\n")
		out.Suites = append(out.Suites, junitSuite{Name: "files that could not be read", Tests: 1, Errors: 1, Cases: []junitCase{{
			Name: inXML(first), Class: "files", Error: &junitFailure{inXML(first), inXML(text)},
		}}})
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	enc := xml.NewEncoder(&b)
	enc.Indent("", "  ")
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("--junit: %w", err)
	}
	b.WriteByte('\n')
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("--junit: %w", err)
	}
	return nil
}

func junitOf(file string, c workflowtest.CaseResult) junitCase {
	out := junitCase{Name: inXML(c.Name), Class: inXML(file)}
	if c.Crash != nil {
		out.Out = inXML(strings.Join(c.Crash.Notes(), "\n"))
	}
	if len(c.Failures) == 0 {
		return out
	}
	var text strings.Builder
	for _, f := range c.Failures {
		fmt.Fprintf(&text, "%s:%d: %s\n", file, f.Line, f)
	}
	for i, line := range c.Journal {
		if i == 0 {
			text.WriteString("what it did:\n")
		}
		fmt.Fprintf(&text, "  %s\n", line)
	}
	first, _, _ := strings.Cut(c.Failures[0].String(), "\n")
	out.Failure = &junitFailure{inXML(first), inXML(text.String())}
	return out
}

// inXML is a text without the characters that XML cannot have.
func inXML(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && !strings.ContainsRune("\t\n\r", r) || r == 0xFFFE || r == 0xFFFF || unicode.Is(unicode.Cs, r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
