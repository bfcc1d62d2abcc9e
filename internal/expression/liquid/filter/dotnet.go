package filter

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/js/dotnet"
	"github.com/weft-run/weft/internal/expression/liquid/value"
)

// dotnetFilters write values in formats of .NET's, in the invariant culture; the second value behind the colon, a culture,
// is there for templates that name en-US where it writes the same.
var dotnetFilters = map[string]Filter{
	"format_date":   {1, 2, formatDate},
	"format_number": {1, 2, formatNumber},
}

// Formats of one letter that are other texts in en-US.
const (
	localDates   = "dDfFgGmMtTyY"
	localNumbers = "CcPp"
)

// formatDate is a time in a format; nothing of what is no time.
func formatDate(c *Call) (any, error) {
	t, ok := timeOf(c.Of, c.Now)
	if !ok || c.arg(0) == nil {
		return nil, nil
	}
	format, err := c.argText(0)
	if err == nil {
		err = c.culture(len(format) < 2 && (format == "" || strings.Contains(localDates, format)))
	}
	if err != nil {
		return nil, err
	}
	text, err := dotnet.InvariantTime(t, format)
	if err != nil {
		return nil, fmt.Errorf("the date format %q: %w", evaluation.Excerpt(format), err)
	}
	return text, nil
}

func formatNumber(c *Call) (any, error) {
	if c.Of == nil || c.arg(0) == nil {
		return nil, nil
	}
	format, err := c.argText(0)
	if err == nil {
		err = c.culture(format != "" && strings.Contains(localNumbers, format[:1]))
	}
	if err != nil {
		return nil, err
	}
	r := evaluation.Rat(value.Number(c.Of))
	if r == nil {
		return nil, errLarge
	}
	text, err := dotnet.InvariantDecimal(r, format)
	if err != nil {
		return nil, fmt.Errorf("the number format %q: %w", evaluation.Excerpt(format), err)
	}
	return text, nil
}

// culture refuses a culture in which the text is another one; local tells whether it is in en-US.
func (c *Call) culture(local bool) error {
	name, err := c.argText(1)
	switch {
	case err != nil || name == "":
		return err
	case !slices.Contains([]string{"en", "en-us"}, strings.ToLower(name)):
		return fmt.Errorf("texts are written in the invariant culture, and not in %s: leave it out, and write what is meant, such as 'dd.MM.yyyy', or replace the point", evaluation.Excerpt(name))
	case local:
		return errors.New("this format is another text in en-US: write what is meant, such as 'M/d/yyyy' or '0.0%'")
	}
	return nil
}
