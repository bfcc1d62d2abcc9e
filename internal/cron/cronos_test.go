package cron

import (
	"os"
	"strings"
	"testing"
	"time"
)

// Expressions mean what they mean to Cronos, which Elsa uses.
func TestCronosSaysTheSame(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/cronos.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		rows++
		parts := strings.Split(line, " | ")
		s, err := Parse(parts[0])
		if parts[len(parts)-1] == "refused" {
			if err == nil {
				t.Errorf("line %d: %s is taken", i+1, parts[0])
			}
			continue
		}
		if err != nil {
			t.Errorf("line %d: %v", i+1, err)
			continue
		}
		word, at, _ := strings.Cut(parts[1], " ")
		from, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if word == "from" {
			from = from.Add(-time.Nanosecond)
		}
		got := "never"
		if next, ok := s.Next(from); ok {
			got = next.Format(time.RFC3339)
		}
		if got != parts[2] {
			t.Errorf("line %d: %s: %s", i+1, line, got)
		}
	}
	if rows < 700 {
		t.Errorf("%d rows", rows)
	}
}
