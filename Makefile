# The targets a user needs; `make help` lists them.
.DEFAULT_GOAL := help
SHELL := bash
.PHONY: help build demo settings openapi pictures test simulate simulate-decisions compare-signatures simulate-deadlines crash-test attack soak test-postgres test-failover test-citus test-alerts test-api test-clients test-apple test-google test-models test-webhooks test-mcp test-doors test-console test-documents console-pictures fuzz fuzz-short bench bench-instructions bench-service bench-distance bench-figures bench-console bench-suites bench-nodes format lint clean requirements package test-package wheel test-wheel test-examples release test-release

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

requirements:
	@Scripts/requirements.sh

build: requirements ## Build the till command (.build/release/till; DEBUG_INFO=dwarf with what a debugger reads)
	@Scripts/swift-build.sh release --product till
	@Scripts/check-versions.sh

# What is tried while it changes is built without optimisation, in a third of the time. `.ci/run` tests the optimised program.
CONFIGURATION ?= debug

demo: requirements ## Play a purchase from end to end, in a fresh data directory (CONFIGURATION=release for the optimised program)
	@Scripts/swift-build.sh $(CONFIGURATION) --product till
	@Scripts/demo.sh .build/$(CONFIGURATION)/till

settings: build ## Write the tables of settings into Documentation/Configuration.md
	@.build/release/till serve --print-settings | Scripts/settings-tables.py Documentation/Configuration.md

openapi: build ## Write the description of the API into Documentation/openapi.json
	@.build/release/till serve --print-openapi >.build/openapi.json
	@mv .build/openapi.json Documentation/openapi.json

pictures: build ## Draw the pictures of the README
	@Scripts/demo-picture.sh .build/release/till Documentation/Pictures/demo.svg

# What measures or takes both cores runs by itself.
alone := SimulationTests|DecisionPropertyTests

test: requirements ## Run every test, then half a minute of simulations (CONFIGURATION=release as they are run before a merge)
	@CONFIGURATION=$(CONFIGURATION) Scripts/in-memory.sh Scripts/swift-test.sh --skip '$(alone)'
	@CONFIGURATION=$(CONFIGURATION) Scripts/swift-test.sh --skip-build --filter '$(alone)'

simulate: requirements ## Play simulations for ten minutes (SECONDS=N), or the one of a seed (SEED=N), over LEDGER=postgres too
	@$(if $(filter postgres,$(LEDGER)),Scripts/with-postgres.sh env TILL_SIMULATION_LEDGER=postgres) \
		env TILL_SIMULATION_SECONDS=$(or $(SECONDS),600) TILL_SIMULATION_SEED=$(SEED) \
		Scripts/swift-test.sh --filter SimulationTests

simulate-decisions: requirements ## Decide the stories of a million seeds (SEEDS=N), each in seven orders, without a ledger
	@TILL_DECISION_SEEDS=$(or $(SEEDS),1000000) \
		Scripts/swift-test.sh --filter DecisionPropertyTests

compare-signatures: requirements ## Verify a million signatures (COUNT=N) with tables of their keys' multiples, and compare with EVP
	@TILL_SIGNATURES=$(or $(COUNT),1000000) Scripts/swift-test.sh --filter KeyMultiplesTests

simulate-deadlines: requirements ## Play the deadlines of both stores for a thousand years (YEARS=N), or those of a seed (SEED=N)
	@TILL_DEADLINE_YEARS=$(or $(YEARS),1000) TILL_DEADLINE_SEED=$(SEED) \
		Scripts/swift-test.sh --filter DeadlineSimulationTests

crash-test: build ## Kill the service under load at random moments, fifty times (ROUNDS=N), and compare with what clients were told
	@TILL_CRASH_ROUNDS=$(or $(ROUNDS),50) Scripts/swift-test.sh --filter CrashTests

attack: build ## Attack a running service in sixteen ways, and report its latency, memory and disk (ATTACK_BINARY=FILE for another till)
	@TILL_ATTACK=1 TILL_ATTACK_BINARY="$(ATTACK_BINARY)" Scripts/swift-test.sh --filter AttackTests

soak: build ## Two thousand who listen, two hundred changes a second, for two minutes (SECONDS=N): count each event
	@TILL_SOAK_SECONDS=$(or $(SECONDS),120) Scripts/swift-test.sh --filter EventSoakTests

test-postgres: requirements ## Run the ledger's tests and simulations over a PostgreSQL of their own, and fail it over under load (TESTS=all for all of them on PostgreSQL 18, too)
	@Scripts/test-postgres.sh

test-failover: requirements ## Fail over three PostgreSQL nodes under the load of three services, ten times (ROUNDS=N)
	@Scripts/test-failover.sh $(or $(ROUNDS),10)

test-citus: build ## Run a ledger that Citus distributes, kill its workers, and compare 1, 2 and 3 nodes (TILL_CITUS=URL for a coordinator)
	@Scripts/test-citus.sh .build/release/till $(or $(BENCH_SECONDS),10)

test-alerts: build ## Let Prometheus read the alerts beside services with outages, and hold the alerts against them
	@Scripts/test-alerts.sh .build/release/till

test-api: build ## Hold a running service against its description with schemathesis, for a minute
	@Scripts/test-api.sh .build/release/till $(or $(API_SECONDS),60)

test-clients: build ## Generate clients from Documentation/openapi.json, and play the ten lines of API.md with them
	@Scripts/test-clients.sh .build/release/till

test-apple: build ## Hold the local App Store against Apple's own library for Python (from PyPI), and for Node where it is installed
	@Scripts/test-apple.sh .build/release/till

test-google: build ## Hold the local Google Play against Google's own clients for Python, Go and Ruby (from PyPI and Debian)
	@Scripts/test-google.sh .build/release/till

test-models: build ## Compare the fields, values and endpoints of both stores' newest libraries (from PyPI) with what Till knows (NEWEST=1 for those of today)
	@Scripts/test-models.sh .build/release/till

test-webhooks: build ## Read a service's webhooks with their own libraries (standardwebhooks and cloudevents, from PyPI)
	@Scripts/test-webhooks.sh .build/release/till

test-mcp: build ## Ask `till mcp` the questions of a support desk, with a client of the Model Context Protocol (mcp, from PyPI)
	@Scripts/test-mcp.sh .build/release/till

test-doors: build ## Drive other purchase servers' own clients against a service: cordova-plugin-purchase in Node (TILL_PEERS=DIR)
	@Scripts/test-doors.sh .build/release/till

test-console: build ## Drive the console of a demonstration with Chromium (TESTS="test_pages …" for some, WINDOWS=all for each kind of window), and recompute its figures
	@Scripts/test-console.sh .build/release/till $(TESTS)

test-documents: build ## Run each command of the documents in the order of its page (PAGES="README.md …" for some, as root in namespaces)
	@Scripts/test-documents.py .build/release/till $(PAGES)

console-pictures: build ## Draw the pictures of the console for the documents
	@Scripts/test-console.sh .build/release/till --pictures Documentation/Pictures

fuzz: requirements ## Fuzz each reader of what strangers send for ten minutes; FUZZ_SECONDS=N for longer or shorter
	@Scripts/fuzz.sh $(or $(FUZZ_SECONDS),600)

fuzz-short: requirements ## The same, a minute each
	@Scripts/fuzz.sh 60

bench: requirements ## Measure how fast proofs are verified, beside OpenSSL's own speed, and BENCH_AGAINST=DIR, another checkout
	@Scripts/bench.sh

bench-instructions: requirements ## Count the instructions of fixed workloads and the allocations of a request, and compare them with those recorded (UPDATE=1 records them)
	@Scripts/bench-instructions.sh

bench-service: build ## Measure the service over HTTP, in SQLite and PostgreSQL, beside a bare hello, peers, and BENCH_AGAINST=FILE, another till
	@Scripts/bench-service.sh .build/release/till "$(BENCH_SECONDS)" "$(BENCH_SIZES)" "$(BENCH_TRANSACTIONS)" "$(BENCH_READERS)"

bench-distance: build ## Measure redemptions and reads with 0, 1 and 5 ms between the service and PostgreSQL (BENCH_SECONDS=N, DISTANCES="0 2")
	@Scripts/bench-distance.sh .build/release/till $(or $(BENCH_SECONDS),8) $(DISTANCES)

package: requirements ## Build a Debian package and a tarball, into .build/packages
	@Scripts/package.sh .build/packages

test-package: package ## Install the packages in a fresh Debian, and run the demo there (as root)
	@Scripts/test-package.sh .build/packages

wheel: build ## Build a Python wheel with the program of `make build`, into .build/wheels
	@Scripts/wheel.sh .build/wheels .build/release/till

test-wheel: wheel ## Install the wheel in a fresh virtual environment, and run its pytest fixtures with eight workers
	@Scripts/test-wheel.sh .build/wheels

test-examples: build ## Run the back ends of Examples (FastAPI, Node, Go, Swift) and their tests beside a service and both local stores
	@Scripts/test-examples.sh .build/release/till

release: requirements ## Make everything that is installed, with its sums and bills of materials, into .build/artifacts (as root)
	@rm -rf .build/artifacts
	@Scripts/release.sh .build/artifacts

test-release: release ## Try each thing of the release where nothing else is, then make it again and compare the bytes (as root)
	@Scripts/test-release.sh .build/artifacts

bench-figures: build ## Measure each figure of a year, in the sums of ten million transactions, in SQLite and PostgreSQL (ROUNDS=N)
	@Scripts/bench-figures.sh .build/release/till $(or $(ROUNDS),15)

bench-console: build ## Measure each page of the console, with a million transactions, in SQLite and PostgreSQL (ROUNDS=N)
	@Scripts/bench-console.sh .build/release/till $(or $(ROUNDS),100) $(or $(BENCH_TRANSACTIONS),1000000)

bench-suites: build ## Run 200 test suites at once (SUITES=N), each with a named store in one process of the local App Store
	@python3 Benchmarks/Suites/measure.py .build/release/till $(or $(SUITES),200)

bench-nodes: ## Predict the rates of 1, 3, 10 and 100 nodes of Citus from measured costs, in a simulation of three minutes
	@python3 Benchmarks/Service/nodes.py

format: ## Format the sources
	@swift format --in-place --recursive --parallel Package.swift Benchmarks/Package.swift Benchmarks/Hello Benchmarks/ProofSpeed Benchmarks/TransactionMint Examples/Swift/Package.swift Examples/Swift/Sources Examples/Swift/Tests Plugins Sources Tests

lint: ## Check the format of the sources
	@swift format lint --strict --recursive --parallel Package.swift Benchmarks/Package.swift Benchmarks/Hello Benchmarks/ProofSpeed Benchmarks/TransactionMint Examples/Swift/Package.swift Examples/Swift/Sources Examples/Swift/Tests Plugins Sources Tests

clean: ## Remove what was built
	@rm -rf .build .build-fuzz Benchmarks/.build
