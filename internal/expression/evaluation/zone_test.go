package evaluation

import (
	"testing"
	"time"
)

// weft has UTC as the zone of the process, which is known by its name all the same. No test that reads clocks runs beside this one.
func TestZoneOfAProcessInUTC(t *testing.T) {
	local := time.Local
	time.Local = time.UTC
	defer func() { time.Local = local }()
	for name, known := range map[string]bool{"UTC": true, "Etc/UTC": true, "GMT": true, "Europe/Berlin": true, "": false, "Local": false, "Nowhere": false} {
		if zone, err := Zone(name); (err == nil) != known || known && zone.String() != name {
			t.Errorf("%q: %v, %v", name, zone, err)
		}
	}
}
