# Verbs of the project; `make` alone lists them.
SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
PYTHON := .venv/bin/python
CDK := node_modules/.bin/cdk
UV := .tools/uv/bin/uv
FAST := not (local_aws or spark or deployed or simulation or synth)
# A habit of containers, with which every one of a thousand short processes compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE
# By these, Python would take a person's own modules for the project's, find none of ours, or read no docstring, as PySpark does.
unexport PYTHONPATH PYTHONHOME PYTHONSAFEPATH PYTHONOPTIMIZE
YEARS ?= 200
TABLES ?= 50
SEED ?= 0
# Whether `cdk` asks before it gives rights: where nobody can be asked, as in a pipeline, it deploys with `never` only.
APPROVAL ?= broadening

.PHONY: help install check test simulate fuzz crash-matrix bench demo demo-keep synth bootstrap deploy repair destroy lock

help: ## list the verbs
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-12s %s\n", $$1, $$2 }'

install: ## install everything into .venv, node_modules and .tools (the other verbs do it themselves)
	@scripts/install.sh

demo: install ## the whole product on this machine: deploy, load, merge, mails, comparison
	@$(PYTHON) -m local demo

demo-keep: install ## the same, and leave the local AWS running to play with
	@$(PYTHON) -m local demo --keep

# Four processes on two cores: those of the deployment wait for executions, those of the functions for the next try.
test: install lint ## everything: format, lint, types, boundaries, all tests
	@$(PYTHON) -m pytest -q --numprocesses 4 --no-loadscope-reorder

check: install lint ## format, lint, types, boundaries, fast tests; some two minutes
	@$(PYTHON) -m pytest -q --numprocesses 2 --no-loadscope-reorder -m "$(FAST)"

.PHONY: lint
lint:
	@$(PYTHON) -m ruff format --check --quiet . && $(PYTHON) -m ruff check --quiet .
	@$(PYTHON) -m mypy
	@.venv/bin/lint-imports --no-cache > /dev/null || .venv/bin/lint-imports --no-cache

simulate: install ## years of schedule in virtual time: make simulate YEARS=1000 SEED=7
	@$(PYTHON) -m tests.simulation --years $(YEARS) --seed $(SEED)

fuzz: install ## random tables followed and compared with their sources: make fuzz TABLES=500 SEED=7
	@$(PYTHON) -m tests.spark.oracle --tables $(TABLES) --seed $(SEED)

crash-matrix: install ## stop, kill, refuse at every state and every call, and print how the next run heals each; half an hour
	@$(PYTHON) -m tests.deployed.crash_matrix $(if $(ONLY),--only "$(ONLY)")

bench: install ## the jobs beside the obvious way on the same data: seconds, bytes, shuffles, memory; some minutes (BENCH_JAVA=plain: Java as Spark starts it)
	@$(PYTHON) -m local.bench $(if $(ITEMS),--items $(ITEMS)) $(if $(BENCH_JAVA),--java $(BENCH_JAVA))

synth: install ## write the CloudFormation template to cdk.out, offline
	@$(CDK) synth --quiet && echo "cdk.out/ holds the template"

bootstrap: install ## prepare the account and Region of your credentials for the CDK, once
	@$(CDK) bootstrap

deploy: install ## deploy to the AWS account of your credentials
	@$(CDK) deploy --require-approval $(APPROVAL)

repair: install ## undo what was changed by hand in the stack: a role, the bucket, a schedule, a parameter
	@echo "Tables that are paused are set to RUN by this, unless their settings say so: pause them again where they must rest."
	@$(CDK) deploy --revert-drift --require-approval $(APPROVAL)

destroy: install ## remove the stack from the account; bucket and tables stay
	@$(CDK) destroy

lock: install ## resolve the dependency groups again into the lock files
	@$(UV) pip compile pyproject.toml --group lambdas --group spark --group infra --group local --group dev \
	  --python-version 3.11 --universal --generate-hashes --no-emit-index-url --quiet -o requirements.lock
	@$(UV) pip compile pyproject.toml --group lambdas --constraint requirements.lock \
	  --python-version 3.11 --universal --generate-hashes --no-emit-index-url --quiet -o lambdas/requirements.lock
	@npm install --package-lock-only --silent
	@$(PYTHON) -m local.spark_jars --lock
