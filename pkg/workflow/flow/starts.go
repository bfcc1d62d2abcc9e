package flow

import "time"

// Trigger makes a wait start instances, too: each event of that name, each time of a
// schedule, each request. It belongs beside the first step. A workflow that is started so
// gets no inputs.
func Trigger() Option {
	return func(_ *builder, step map[string]any) { step["trigger"] = true }
}

// Cron waits for the next time that a cron expression of six fields in UTC names (second,
// minute, hour, day of month, month, day of week), or, with [Trigger], starts an instance at
// each.
func (s *Steps) Cron(expression string, opts ...Option) {
	s.add("cron", map[string]any{"cronExpression": expression}, opts...)
}

// Every waits, or, with [Trigger], starts an instance again and again, that long apart.
func (s *Steps) Every(d time.Duration, opts ...Option) {
	s.add("timer", map[string]any{"interval": span(d)}, opts...)
}

// StartAt waits for a time, or, with [Trigger], starts an instance then. A time that has passed is not waited for.
func (s *Steps) StartAt(at Value[time.Time], opts ...Option) {
	s.add("startAt", map[string]any{"dateTime": at.written()}, opts...)
}

// Request is a request that came to an address of the workflow.
type Request[B any] struct {
	Body         B                        // a record or a [Value]: the body, if it is JSON
	Route, Query Value[map[string]string] // the parameters of the path, and those behind the ?
}

// Endpoint waits for a request to a path below /workflows, such as orders/{id}, or, with
// [Trigger], starts an instance at each. [Steps.Respond] answers it.
func Endpoint[B any](s *Steps, path string, methods []string, opts ...Option) Request[B] {
	inputs := map[string]any{"path": path}
	if len(methods) > 0 {
		inputs["supportedMethods"] = methods
	}
	id := s.add("httpEndpoint", inputs, opts...)
	return Request[B]{
		Body:  standing[B](s.where(id, "parsedContent")),
		Route: coded[map[string]string](s.where(id, "routeData")),
		Query: coded[map[string]string](s.where(id, "queryStringData")),
	}
}

// Respond answers the request that started or resumed the instance. Content that is no text
// is sent as JSON.
func (s *Steps) Respond(status Value[int], content Operand) {
	inputs := map[string]any{"statusCode": status.written()}
	if v, ok := content.(anyValue); ok {
		inputs["content"] = v.written()
	}
	s.add("writeHttpResponse", inputs)
}
