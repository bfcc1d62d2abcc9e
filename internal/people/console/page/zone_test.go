package page

import (
	"testing"
	"time"
)

// weft has UTC as the zone of the process, and who looks at pages may choose it. No test that reads clocks runs beside this one.
func TestUTCIsAZone(t *testing.T) {
	local := time.Local
	time.Local = time.UTC
	defer func() { time.Local = local }()
	for name, known := range map[string]bool{"": true, "UTC": true, "Europe/Berlin": true, "Local": false, "Nowhere": false} {
		if _, err := location(name); (err == nil) != known {
			t.Errorf("%q: %v", name, err)
		}
	}
}
