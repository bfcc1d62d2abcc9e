# Every target a person needs; `make` alone lists them. The steps themselves
# are in .ci/run, so that CI, which may have no make, runs the same ones.

.DEFAULT_GOAL := help
.PHONY: help build image release test race lint fmt generate bench bench-report bench-million bench-sustained bench-steady bench-idle bench-wide bench-counts bench-peers bench-cron bench-docs deploy-test browser-test compose-test ci chaos chaos-long chaos-processes bombs fills floods etcds mutants prove findings limits-proof

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build the binary ./weft
	CGO_ENABLED=0 go build -o weft ./cmd/weft

image: build ## Build the image weft; needs no registry
	docker build --target prebuilt --tag weft .

release: ## Make binaries, packages, chart, schemas, checksums and bills of materials in dist/ (TARGETS=linux/amd64 VERSION=1.2.3)
	@bash .ci/run release

test: ## Run all tests, on real embedded etcd
	@bash .ci/run test

race: ## Run the concurrent packages under the race detector (installs gcc on Debian)
	@bash .ci/run race

lint: ## Check format, vet, lint and the types of TypeScript
	@bash .ci/run format vet lint types

fmt: ## Format the code and group its imports
	@bash .ci/run fmt

generate: ## Write the generated files again
	go generate ./...

bench: ## Run each benchmark once
	@bash .ci/run bench

bench-counts: ## Count what an operation asks of etcd and allocates, in half a minute; the machine may be busy
	CGO_ENABLED=0 go run ./bench -counts

bench-report: ## Measure everything into bench-results/, about 12 minutes (QUICK=1: 4); the machine has to be idle
	CGO_ENABLED=0 go run ./bench -report bench-results $(if $(QUICK),-quick)

bench-million: ## Measure a node beside a million instances that wait, about 10 minutes and 6 GB of disk (QUICK=1: 10,000 instances)
	CGO_ENABLED=0 go run ./bench -report bench-results -million $(if $(QUICK),-quick)

bench-sustained: ## Look for the highest rate of starts that is level for MINUTES=30 each (QUOTAS=2,8 RATES=200,300,…), up to 4 hours
	CGO_ENABLED=0 go run ./bench -report bench-results -sustained -duration $(or $(MINUTES),30)m $(if $(QUOTAS),-quotas $(QUOTAS)) $(if $(RATES),-rates $(RATES))

bench-steady: ## Send each kind of stimulus for MINUTES=10 (KIND=queue: those with that in their name), and see whether it gets slower; two hours
	CGO_ENABLED=0 go run ./bench -steady "$(or $(KIND),all)" -duration $(or $(MINUTES),10)m -concurrency $(or $(CALLERS),32) $(if $(WALKS),-walks)

bench-idle: ## Measure what three nodes and three members of etcd cost that have nothing to do, two minutes
	CGO_ENABLED=0 go run ./bench -report bench-results -idle 40s

bench-wide: ## Measure what one instance of PLACES=100000 costs over HTTP, time and memory of a node, 10 minutes (OF=children, ETCD=embedded)
	CGO_ENABLED=0 go run ./bench -wide $(or $(PLACES),100000) $(if $(OF),-wide-of $(OF)) $(if $(ETCD),-etcd $(ETCD))

bench-cron: ## Scan 10,000 cron lines, each in a zone, beside go-cron
	CGO_ENABLED=0 go -C tools/cron test -bench . -benchmem

bench-peers: ## Measure Temporal and River beside Weft into bench-results/ (needs Debian's postgresql)
	CGO_ENABLED=0 go -C bench/peers run . -out ../../bench-results

bench-docs: ## Write bench-results/ into docs/performance.md
	go run ./bench -docs docs/performance.md -from bench-results

deploy-test: ## Test alerts, dashboards, runbooks and docker-compose.yml (installs Prometheus and HAProxy on Debian)
	@bash .ci/run deploy

browser-test: ## Test the console in a browser (installs Chromium on Debian)
	@bash .ci/run browser

etcds: ## Replace members of etcd under load: 3.5, 3.6, 3.7, a learner (AUTH=during|before; builds each version, 5 minutes)
	go run ./test/etcds $(if $(AUTH),-auth $(AUTH))

compose-test: ## Run docker-compose.yml and break things in it (needs Docker, HAProxy, Prometheus, busybox)
	@bash .ci/run compose

chaos: ## Try to break the guarantees for 10 minutes (SEED=n RESUME_LOCKING=auto)
	@bash .ci/run chaos

chaos-long: ## The same for two hours
	@bash .ci/run chaos-long

chaos-processes: ## Kill, stop and cut off real nodes and etcd members for 10 minutes (SEED=n ROUNDS=10)
	@bash .ci/run chaos-processes

limits-proof: ## Give GRANTS=100000 places of limits on three nodes while all goes wrong, and hold the history of etcd against the promises (GRANTS=5000: 22 s)
	CGO_ENABLED=0 WEFT_LIMIT_GRANTS=$(or $(GRANTS),100000) go test ./internal/store/etcdstore -run TestLimitsHoldWhateverGoesWrong -count 1 -v -timeout 60m

fills: ## Cancel, delete, alter and retry many large instances beside a quota of QUOTA=190 MiB, two minutes
	WEFT_FILLS=$(or $(QUOTA),190) go test ./test/e2e -run TestBulkWorkNeverFillsEtcd -count 1 -v -timeout 30m

bombs: ## Run every expression that was made to end a node, each in a process of its own
	go test ./internal/expression/js ./internal/expression/native ./internal/expression/liquid -run TestBombs -count 1 -bombs

floods: ## Flood a node with the shipped limits in each way for a minute, beside callers of W1, about 20 minutes
	CGO_ENABLED=0 go run ./bench -floods all -duration 60s

fuzz: ## Run every fuzz target, one after the other (FUZZTIME=10m for each)
	@bash .ci/fuzz $(or $(FUZZTIME),10m)

mutants: ## Take away each guard, and see which test fails
	@bash .ci/run mutants

findings: ## See whether software of others still behaves as findings/ says (needs the module proxy)
	@bash .ci/findings

prove: ## Run all that the tests can do: every case, world and round, the race detector and chaos, some hours
	@bash .ci/run prove

ci: ## Everything that a change must pass
	@bash .ci/run
