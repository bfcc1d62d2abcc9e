module github.com/weft-run/weft/tools/cron

go 1.26.8

require (
	github.com/netresearch/go-cron v0.9.1
	github.com/weft-run/weft v0.0.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/google/uuid v1.6.0 // indirect
)

replace github.com/weft-run/weft => ../..
