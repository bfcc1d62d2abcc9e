package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestBookmarks(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: marks#\nroot:\n  - parallel:\n      - event: mark / é#\n      - runTask: task#\n      - delay: 45h\n")
	var ids []string
	for i := range 7 {
		ids = append(ids, s.own(fmt.Sprintf("marks-%d-#", i)))
		s.post(t, "/api/v1/definitions/marks#/execute", fmt.Sprintf(`{"instanceId": %q, "correlationId": "c%d#"}`, ids[i], i%2), 200)
	}
	// all reads a list to its end, and gives the instances in their order of name.
	all := func(query string, limit int) []string {
		t.Helper()
		var got []string
		for cursor := ""; ; {
			v := s.get(t, fmt.Sprintf("/api/v1/bookmarks?%s&limit=%d&cursor=%s", s.own(query), limit, cursor)).json(t)
			items := v["items"].([]any)
			if v["revision"] == 0.0 || len(items) > limit {
				t.Fatalf("%v", v)
			}
			for _, i := range items {
				got = append(got, i.(map[string]any)["instanceId"].(string))
			}
			if v["nextCursor"] == nil {
				slices.Sort(got)
				return got
			}
			cursor = v["nextCursor"].(string)
		}
	}
	even := []string{ids[0], ids[2], ids[4], ids[6]}
	event := url.QueryEscape(s.own("mark / é#"))
	for query, want := range map[string][]string{
		"event=" + event: ids, "event=" + event + "&correlationId=c0#": even, "event=" + event + "&correlationId=none": nil, "event=nobody#": nil,
		"name=task#": ids, "activityType=Elsa.RunTask&name=task#&correlationId=c0#": even, "activityType=Elsa.Event&name=task#": nil, "activityType=Elsa.Event&name=" + event: ids,
	} {
		for _, limit := range []int{1, 3, 7, 500} {
			if got := all(query, limit); !slices.Equal(got, want) {
				t.Errorf("%s by %d: %v, want %v", query, limit, got, want)
			}
		}
	}
	if got := all("correlationId=c0#", 500); len(got) != 3*len(even) {
		t.Errorf("of a correlation: %v", got)
	}
	for query, want := range map[string][]string{
		"definitionId=marks#&event=" + event: ids, "definitionId=marks#&correlationId=c0#&event=" + event: even, "definitionId=marks#&name=task#": ids,
		"definitionId=marks#&activityType=Elsa.RunTask": ids, "definitionId=marks#&activityType=Elsa.RunTask&name=other": nil, "definitionId=marks#&event=nobody#": nil, "definitionId=none#": nil,
		"definitionId=marks#": slices.Sorted(slices.Values(slices.Concat(ids, ids, ids))),
	} {
		for _, limit := range []int{1, 2, 3, 7, 500} {
			if got := all(query, limit); !slices.Equal(got, want) {
				t.Errorf("%s by %d: %v, want %v", query, limit, got, want)
			}
		}
	}
	newest := s.get(t, "/api/v1/bookmarks?limit=5&definitionId=marks#").json(t)
	for i, item := range newest["items"].([]any) {
		if row := item.(map[string]any); row["instanceId"] != ids[6-i/3] || row["since"] == nil || row["correlationId"] != s.own(fmt.Sprintf("c%d#", (6-i/3)%2)) {
			t.Errorf("row %d: %v", i, row)
		}
	}
	one := s.get(t, "/api/v1/bookmarks?limit=1&event="+event+"&correlationId=c1#").json(t)["items"].([]any)[0].(map[string]any)
	if one["name"] != s.own("mark / é#") || one["activityType"] != "Elsa.Event" || one["correlationId"] != s.own("c1#") || !strings.HasPrefix(one["bookmarkId"].(string), one["instanceId"].(string)) {
		t.Errorf("%v", one)
	}
	for query, want := range map[string]string{
		"event=a&name=b": "said-twice", "cursor=%25": "invalid-request", "limit=0": "bad-limit", "bookmark=x": "unknown-parameter", "event=" + strings.Repeat("x", 300): "bad-name",
		"definitionId=a/b": "bad-id", "definitionId=a&cursor=" + newest["nextCursor"].(string)[:6]: "cursor", "definition=a": "definitionId",
	} {
		if a := s.do(t, http.MethodGet, "/api/v1/bookmarks?"+query, ""); a.status != 422 || !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
}
