package act

import (
	"encoding/json"
	"testing"
	"time"
)

func TestAlterationsOfAForm(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.FixedZone("", 3600))
	for what, c := range map[string]struct {
		fields map[string]string
		want   string // "": refused
	}{
		"a retry":           {map[string]string{"0:text:type": "retry"}, `[{"type":"retry"}]`},
		"in their order":    {map[string]string{"1:text:type": "retry", "0:text:type": "setVariable", "0:text:variable": "n", "0:json:value": `"1"`}, `[{"type":"setVariable","value":"1","variable":"n"},{"type":"retry"}]`},
		"a box not ticked":  {map[string]string{"0:text:type": "skip", "1:boolean:keepKey": "false"}, `[{"type":"skip"}]`},
		"another key":       {map[string]string{"0:text:type": "retry", "0:boolean:keepKey": "false", "0:number:execution": "7"}, `[{"execution":7,"keepKey":false,"type":"retry"}]`},
		"outcomes":          {map[string]string{"0:text:type": "skip", "0:list:outcomes": " yes, no ,"}, `[{"outcomes":["yes","no"],"type":"skip"}]`},
		"pairs":             {map[string]string{"0:text:type": "migrate", "0:number:version": "2", "0:pairs:activities": "a = b\n\n c=d "}, `[{"activities":{"a":"b","c":"d"},"type":"migrate","version":2}]`},
		"in a while":        {map[string]string{"0:text:type": "reschedule", "0:when:dueAt": "10m"}, `[{"dueAt":"2026-11-23T11:10:00Z","type":"reschedule"}]`},
		"in the own zone":   {map[string]string{"0:text:type": "reschedule", "0:when:dueAt": " 2026-11-24 08:30 "}, `[{"dueAt":"2026-11-24T07:30:00Z","type":"reschedule"}]`},
		"with its zone":     {map[string]string{"0:text:type": "reschedule", "0:when:dueAt": "2026-11-24T08:30:00+02:00"}, `[{"dueAt":"2026-11-24T06:30:00Z","type":"reschedule"}]`},
		"no pair":           {map[string]string{"0:text:type": "migrate", "0:pairs:activities": "a b"}, ""},
		"no time":           {map[string]string{"0:text:type": "reschedule", "0:when:dueAt": "soon"}, ""},
		"no number":         {map[string]string{"0:text:type": "retry", "0:number:execution": "one"}, ""},
		"no JSON":           {map[string]string{"0:text:type": "setVariable", "0:json:value": "{"}, ""},
		"no such place":     {map[string]string{"10:text:type": "retry"}, ""},
		"a place below all": {map[string]string{"-1:text:type": "retry"}, ""},
		"no place":          {map[string]string{"type": "retry"}, ""},
	} {
		all := alterations{}
		var err error
		for field, text := range c.fields {
			if wrong := all.add(field, text, now); wrong != nil {
				err = wrong
			}
		}
		raw, _ := json.Marshal(all.list())
		if c.want == "" && err == nil || c.want != "" && (err != nil || string(raw) != c.want) {
			t.Errorf("%s: %s, %v, want %s", what, raw, err, c.want)
		}
	}
}
