package metrics_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protodelim"
)

// A scrape has the same names and types in each format that scrapers ask for. A counter without _total would have no type in OpenMetrics, and
// a name that ends in it without being one would be two things.
func TestEachFormatOfAScrapeHasTheSameNamesAndTypes(t *testing.T) {
	t.Parallel()
	m, reg := newMetrics(t)
	useAll(m)
	handler := promhttp.HandlerFor(reg, promhttp.HandlerOpts{EnableOpenMetrics: true})
	scrape := func(accept, of string) []byte {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if got := w.Header().Get("Content-Type"); w.Code != http.StatusOK || !strings.HasPrefix(got, of) {
			t.Fatalf("%s: %d, %s", accept, w.Code, got)
		}
		return w.Body.Bytes()
	}
	text := typesOfText(scrape("text/plain;version=0.0.4", "text/plain; version=0.0.4"))
	open := scrape("application/openmetrics-text;version=1.0.0", "application/openmetrics-text; version=1.0.0")
	if !bytes.HasSuffix(open, []byte("# EOF\n")) {
		t.Error("OpenMetrics does not end")
	}
	inOpen := map[string]string{}
	for name, kind := range typesOfText(open) {
		if kind == "counter" {
			name += "_total"
		}
		inOpen[name] = kind
	}
	const protobuf = "application/vnd.google.protobuf"
	inProto := map[string]string{}
	for in := bufio.NewReader(bytes.NewReader(scrape(protobuf+";proto=io.prometheus.client.MetricFamily;encoding=delimited", protobuf))); ; {
		var f dto.MetricFamily
		if err := protodelim.UnmarshalFrom(in, &f); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		inProto[f.GetName()] = strings.ToLower(f.GetType().String())
	}
	if len(text) < 50 || !maps.Equal(text, inOpen) || !maps.Equal(text, inProto) {
		t.Errorf("text %v\nOpenMetrics %v\nprotobuf %v", text, inOpen, inProto)
	}
	for name, kind := range text {
		if (kind == "counter") != strings.HasSuffix(name, "_total") {
			t.Errorf("%s is a %s", name, kind)
		}
		base := strings.TrimSuffix(name, "_total")
		if kind == "histogram" && !strings.HasSuffix(base, "_seconds") && !strings.HasSuffix(base, "_bytes") && !counted[base] {
			t.Errorf("%s does not say its unit", name)
		}
	}
}

// counted are the histograms of numbers of things, which have no unit.
var counted = map[string]bool{"weft_commit_commands": true, "weft_etcd_batch_size": true}

// typesOfText reads the lines # TYPE name type.
func typesOfText(body []byte) map[string]string {
	types := map[string]string{}
	for line := range strings.Lines(string(body)) {
		if f := strings.Fields(line); len(f) == 4 && f[1] == "TYPE" {
			types[f[2]] = f[3]
		}
	}
	return types
}
