package wire

import "net/http"

// Takes says what a route does with headers.
type Takes struct {
	Endpoint bool // it is one of a definition: what it does with a header is for the definition to say
	Changes  bool
	IfMatch  bool
}

// Dropped says which header of a request asks for something that would not be done; "": none does.
func Dropped(h http.Header, takes Takes) string {
	for _, name := range [...]string{"Content-Type", "If-Match", "X-Correlation-Id", "X-Workflow-Instance-Id", "Authorization"} {
		if len(h[name]) > 1 {
			return "the header " + name + " is given twice, and may have one value"
		}
	}
	if takes.Endpoint {
		return ""
	}
	for _, name := range [...]string{"X-Http-Method-Override", "X-Http-Method", "X-Method-Override"} {
		if h[name] != nil {
			return "the header " + name + " is not taken: send the request with that method"
		}
	}
	if h["If-Match"] != nil && !takes.IfMatch {
		return "this route takes no If-Match"
	}
	if !takes.Changes {
		return ""
	}
	for _, name := range [...]string{"If-None-Match", "If-Unmodified-Since", "Content-Range", "X-Workflow-Instance-Id"} {
		if h[name] != nil {
			return "this route takes no " + name
		}
	}
	return ""
}
