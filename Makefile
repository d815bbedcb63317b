# The commands of this project; `make` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
# The tests start dozens of processes. Without bytecode on disk, each one compiles everything that it imports.
unexport PYTHONDONTWRITEBYTECODE
# Suites that need more than Python, or start a process for every step, have their own targets. CI runs them all.
SLOW := --ignore=tests/journeys --ignore=tests/terraform --ignore=tests/browser --ignore=tests/clients --ignore=tests/chaos
# The domains that this repository's own schema, policies and pages are made from.
DEMO := GATEWAY_DOMAINS='["gateway.demo.commerce", "gateway.demo.devices", "gateway.demo.publishing"]'
PYTEST := $(BIN)/pytest -n auto --dist loadscope --no-loadscope-reorder $(SLOW) --durations=15 -p tests.cpu
# The random cases of which `make test` runs a sample.
DRAWN_TESTS := tests/iam/dynamodb/test_partial_evaluation_random.py tests/store/cache/test_isolation.py tests/ops/importing/test_import.py \
  tests/graph/subscription/test_resume_random.py tests/graph/subscription/test_position.py tests/model/test_soundness.py tests/simulation/test_run.py
# One file in twenty has properties: to import all of them in every worker takes a minute of CPU.
PROPERTIES = $(shell grep -rl hypothesis tests --include='test_*.py' $(subst --ignore=tests/,--exclude-dir=,$(SLOW)))
.PHONY: help install run generate check-generated test coverage test-random lint types imports format test-start test-engines test-chaos test-chaos-stream test-clients test-browser \
  test-terraform mutate-policies mutate-policies-formal prove prove-random check-protocols simulate bench bench-peers playground storefront lock clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'

install: $(STAMP) ## create the environment in .venv

$(STAMP): pyproject.toml requirements-dev.lock requirements-uv.lock
	@scripts/install $(PYTHON) $(VENV)

run: $(STAMP) ## start the gateway on the embedded sandbox, with demo tenants
	@$(BIN)/gateway dev

generate: $(STAMP) ## write the schema, the policies, the access patterns and Terraform's inputs
	$(DEMO) $(BIN)/gateway schema
	$(DEMO) $(BIN)/gateway policies
	$(DEMO) $(BIN)/gateway docs
	$(DEMO) $(BIN)/gateway terraform-inputs

check-generated: $(STAMP) ## fail if one of these files is stale
	$(DEMO) $(BIN)/gateway schema --check
	$(DEMO) $(BIN)/gateway policies --check
	$(DEMO) $(BIN)/gateway docs --check
	$(DEMO) $(BIN)/gateway terraform-inputs --check

test: $(STAMP) lint types imports ## lint, types, import rules, and tests: without slow ones, with a sample of the random cases
	$(PYTEST) -m "not slow"

coverage: $(STAMP) lint types imports ## make test with the slow tests and coverage; fails below 95 %
	$(PYTEST) $(SELECTED) --cov --cov-report=term

test-random: $(STAMP) ## run all random cases: 20,000 documents, 100,000 requests of each kind
	DRAWN=all $(BIN)/pytest -n auto $(DRAWN_TESTS)
	DRAWN=all $(BIN)/pytest -n auto -m hypothesis $(PROPERTIES)
	$(BIN)/python -m tests.graph.query.equality --documents 10000 --processes 2

lint: $(STAMP) ## check style and common mistakes (ruff)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP) ## check types (mypy --strict)
	$(BIN)/mypy

imports: $(STAMP) ## check the direction of imports between rooms
	$(BIN)/lint-imports

format: $(STAMP) ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test-engines: $(STAMP) ## test the store on DynamoDB Local and MiniStack (needs Java 17 and npm)
	scripts/engines
	$(BIN)/pytest tests/engines --engine=dynamodb-local
	$(BIN)/pytest tests/engines --engine=ministack

test-chaos: $(STAMP) ## test writes under injected faults, and subscriptions, while processes are killed
	scripts/engines
	$(BIN)/pytest tests/chaos
	$(BIN)/python -m tests.chaos
	$(MAKE) test-chaos-stream

test-chaos-stream: $(STAMP) ## test subscriptions while readers, bus and gateways are killed
	$(BIN)/python -m tests.chaos.stream

test-clients: $(STAMP) ## test with Apollo, urql, Relay, graphql-ws, graphql-sse, codegen, gql and the GraphQL-over-HTTP audit (needs npm)
	scripts/clients
	$(BIN)/python -m tests.clients

test-browser: $(STAMP) ## test the playground and the storefront in headless Chromium (needs chromium)
	scripts/browser-tools
	$(BIN)/pytest tests/browser

test-terraform: $(STAMP) ## validate, plan and apply the Terraform modules offline (needs terraform)
	scripts/terraform-tools
	$(BIN)/pytest tests/terraform

test-start: $(STAMP) ## start `gateway dev` from this tree and from the built wheel, follow the guide, test new projects
	$(BIN)/python -m tests.first_start
	$(BIN)/python -m tests.first_start --wheel
	$(BIN)/pytest -n auto --dist loadscope tests/journeys

prove: $(STAMP) ## prove that the policies isolate tenants, then attack every tenant border; writes report/
	$(BIN)/gateway isolation prove --formal
	$(BIN)/gateway isolation prove

playground: ## build GraphiQL from playground/ (needs npm)
	cd playground && npm ci && npm run build

storefront: ## build the demo front end from examples/storefront (needs npm)
	cd examples/storefront && npm ci && npm run build

mutate-policies: $(STAMP) ## weaken the policies in more than a thousand ways; the checks must notice each
	$(BIN)/python -m tests.policies.mutate

mutate-policies-formal: $(STAMP) ## the same before the solver alone: it refutes each, or proves that it changes nothing
	$(BIN)/python -m tests.policies.mutate --formal

prove-random: $(STAMP) ## run the formal proof on random models, and compare it with the evaluator on 100,000 random requests
	$(BIN)/python -m tests.iam.formal.many

simulate: $(STAMP) ## simulate a million steps of the store over a bad network
	$(BIN)/python -m tests.simulation.run 1000000

check-protocols: $(STAMP) ## check the TLA+ models in specs/ (needs Java)
	scripts/check-protocols

bench: $(STAMP) ## run the benchmarks; read ratios, not seconds
	$(BIN)/python -m bench

bench-peers: $(STAMP) ## compare the gateway with Node and Python servers, about 3 minutes (needs npm and a C compiler; uses wrk)
	scripts/peers
	$(BIN)/python -m bench.peers

lock: $(STAMP) ## resolve and lock the dependencies
	echo uv | $(BIN)/uv pip compile - --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --quiet --output-file requirements-uv.lock
	$(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --quiet --output-file requirements.lock
	$(BIN)/uv pip compile pyproject.toml --extra nats --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --quiet --output-file requirements-nats.lock
	$(BIN)/uv pip compile pyproject.toml --extra dax --extra nats --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --quiet --output-file requirements-dax.lock
	$(BIN)/uv pip compile pyproject.toml --extra sandbox --extra dax --extra nats --group dev --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-header --quiet --output-file requirements-dev.lock

clean: ## remove what the commands created
	rm -rf $(VENV) .engines .clients .peers bench/peers/node_modules .coverage* .mypy_cache .pytest_cache .ruff_cache \
	  .hypothesis .import_linter_cache
