package cron

import (
	"fmt"
	"testing"
	"time"

	library "github.com/netresearch/go-cron"

	"github.com/weft-run/weft/internal/cron"
)

var zones = []string{"Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Africa/Casablanca", "America/Santiago", "Pacific/Auckland", "Asia/Tehran"}

// lines are 10,000 expressions with six fields, most of them daily, weekly, monthly and each few minutes.
func lines() []string {
	out := make([]string, 10_000)
	for i := range out {
		switch i % 5 {
		case 0:
			out[i] = fmt.Sprintf("%d %d %d * * *", i%60, i/7%60, i/11%24)
		case 1:
			out[i] = fmt.Sprintf("0 */%d * * * *", 1+i%30)
		case 2:
			out[i] = fmt.Sprintf("0 %d %d * * MON-FRI", i%60, i/3%24)
		case 3:
			out[i] = fmt.Sprintf("0 0 %d %d * *", i%24, 1+i%28)
		case 4:
			out[i] = fmt.Sprintf("0 0 0 %d %d *", 1+i%28, 1+i%12)
		}
	}
	return out
}

// from are the moments that the scan looks from: one each 11 days, so that clocks jump now and then.
func from(i int) time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i%64*11) }

func BenchmarkTenThousandLines(b *testing.B) {
	b.Run("weft, each in a zone", func(b *testing.B) {
		var all []cron.Schedule
		for i, line := range lines() {
			s, err := cron.Parse("TZ=" + zones[i%len(zones)] + " " + line)
			if err != nil {
				b.Fatal(err)
			}
			all = append(all, s)
		}
		for n := 0; b.Loop(); n++ {
			for _, s := range all {
				s.Next(from(n))
			}
		}
	})
	b.Run("go-cron, none in a zone", func(b *testing.B) {
		p := library.NewParser(library.Second | library.Minute | library.Hour | library.Dom | library.Month | library.Dow)
		var all []library.Schedule
		for _, line := range lines() {
			s, err := p.Parse(line)
			if err != nil {
				b.Fatal(err)
			}
			all = append(all, s)
		}
		for n := 0; b.Loop(); n++ {
			for _, s := range all {
				s.Next(from(n))
			}
		}
	})
	b.Run("go-cron, each in a zone", func(b *testing.B) {
		p := library.NewParser(library.Second | library.Minute | library.Hour | library.Dom | library.Month | library.Dow)
		var all []library.Schedule
		for i, line := range lines() {
			s, err := p.Parse("TZ=" + zones[i%len(zones)] + " " + line)
			if err != nil {
				b.Fatal(err)
			}
			all = append(all, s)
		}
		for n := 0; b.Loop(); n++ {
			for _, s := range all {
				s.Next(from(n))
			}
		}
	})
}
