// Package deploy tests what operators get: docker-compose.yml, and the alerts,
// dashboards and runbooks of deploy/ and docs/. Every expression is parsed, each
// metric that it names must be in a live scrape of a real cluster under load,
// with the label values that it asks for, and a real Prometheus that scrapes the
// cluster must answer the panels' queries with data.
//
// It is a module of its own; see go.mod. Tests that need Debian's Prometheus or
// HAProxy are skipped where those are not, unless WEFT_REQUIRE_TOOLS=1 says that
// this is a failure.
package deploy
