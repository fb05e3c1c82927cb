# Every target sets up .venv when it has to. `make help` lists them.
# To use another interpreter that has everything: make test PYTHON=python3 READY=
VENV   := .venv
PYTHON := $(VENV)/bin/python
READY  := $(VENV)/ready
PYTEST := $(PYTHON) -m pytest
JOBS   := 2
PEER   :=
SEEDS  := 0:2000

.DEFAULT_GOAL := help
.PHONY: help demo test golden gpu-test gpu-fuzz gpu-agree types lint bench sim-bench clean

help: ## list what make can do
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

demo: $(READY) ## run the scan tutorial on the CPU: program, schedule, lowered IR, LLVM, CUDA, check against NumPy
	$(PYTHON) tutorials/03_scan.py

test: $(READY) ## run every test that needs no GPU
	$(PYTEST) -n $(JOBS) --dist worksteal -m "not gpu" -q

golden: $(READY) ## rewrite tests/golden from what the program prints now; read the diff before you commit it
	$(PYTEST) -n $(JOBS) -m "not gpu" -q --update-goldens

gpu-test: $(READY) ## run the tests that need an NVIDIA GPU and CuPy
	$(PYTEST) -m gpu

gpu-fuzz: $(READY) ## random programs under random schedules on a GPU, a sample under compute-sanitizer; SEEDS=0:2000
	$(PYTHON) -m tests.differential.gpu_fuzz $(SEEDS) --jobs 4 --racecheck 32

gpu-agree: $(READY) ## the simulator beside a GPU: results of every GPU test, compute-sanitizer's reports, Nsight's counters
	$(PYTEST) -m gpu --beside-simulator tests tests/instructions/gpu_matrix.py
	$(PYTHON) -m tests.sim.agreement --jobs 8
	$(PYTHON) -m tests.sim.counters

types: $(READY) ## check types
	$(PYTHON) -m basedpyright

lint: $(READY) ## check style, names, docstrings, complexity
	$(PYTHON) -m ruff check .

bench: $(READY) ## time nine CPU programs; PEER=/path/to/python3.10 runs the same in that interpreter's TVM beside them
	$(PYTHON) benchmarks/cpu_te_programs.py $(if $(PEER),--peer $(PEER))

sim-bench: $(READY) ## time the simulator on six programs for CUDA; it needs no GPU
	$(PYTHON) -m benchmarks.simulator

clean: ## remove .venv and every cache
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/ready: pyproject.toml .ci/venv
	@.ci/venv
	@touch $@
