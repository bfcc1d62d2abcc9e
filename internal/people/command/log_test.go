package command

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

type took struct{ d time.Duration }

func (t took) LogValue() slog.Value { return slog.DurationValue(t.d) }

// However a duration comes into a record, it has its unit there.
func TestDurationsInLogsHaveUnits(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "text"} {
		var out bytes.Buffer
		log, _, err := newLogger(&out, "debug", format)
		if err != nil {
			t.Fatal(err)
		}
		log.With("with", 5*time.Second).WithGroup("g").Info("m", slog.Duration("attr", 5*time.Second), slog.Any("any", 5*time.Second),
			slog.Group("inner", "deep", 5*time.Second), slog.Any("valuer", took{5 * time.Second}))
		if got := strings.Count(out.String(), "5s"); got != 5 || strings.Contains(out.String(), "5000000000") {
			t.Errorf("%s: %d with a unit: %s", format, got, out.String())
		}
	}
}

func TestTheConfigurationThatIsLoggedDiffersFromTheDefaults(t *testing.T) {
	t.Parallel()
	cmd := newCommand(&bytes.Buffer{}, &bytes.Buffer{}, func() []string { return nil })
	if got := resolved(cmd.Flags()); len(got) != 0 {
		t.Errorf("of the defaults: %v", got)
	}
	if err := cmd.Flags().Parse([]string{"--session-ttl", "7s", "--etcd-endpoints", "http://root:hush@a:1,http://b:2", "--queue-ttl", "10m"}); err != nil {
		t.Fatal(err)
	}
	for _, archive := range []string{"postgres://u:hush@h/d", "postgres://u:hush%zz@h/d", "postgres://u@h/d?sslmode=disable&password=hush", "postgres:host=h password = 'hush now' user=u", "postgres:password=hush"} {
		if got := maskURL(archive); strings.Contains(got, "hush") || !strings.Contains(got, "xxxxx") {
			t.Errorf("%s is logged as %s", archive, got)
		}
	}
	got := resolved(cmd.Flags())
	if len(got) != 2 {
		t.Errorf("it has %v", got)
	}
	for _, a := range got {
		if strings.Contains(a.(slog.Attr).String(), "hush") {
			t.Errorf("it has a password: %v", a)
		}
	}
}
