# What the layers are built for, read from the one place that says it: the parameters of template.yaml.
# SAM runs the makefiles that include this file in the folder of the template (WorkingDirectory in their Metadata).
parameter = $(shell sed -n '/^  $(1):$$/,/^  [A-Z]/ s/^    Default: *//p' template.yaml)

PYTHON_VERSION := $(patsubst python%,%,$(call parameter,Runtime))
PLATFORM := manylinux2014_$(patsubst arm64,aarch64,$(call parameter,Architecture))

# The interpreter of that version: on PATH, else among pyenv's versions, else our own environment's. Each is asked: a pyenv shim may exist and still fail.
CANDIDATES := python$(PYTHON_VERSION) $(wildcard $(or $(PYENV_ROOT),$(HOME)/.pyenv)/versions/$(PYTHON_VERSION).*/bin/python$(PYTHON_VERSION)) $(wildcard $(CURDIR)/.venv/bin/python)
IS_RUNTIME = import sys; sys.exit("%d.%d" % sys.version_info[:2] != "$(PYTHON_VERSION)")
RUNTIME_PYTHON = $(shell for python in $(CANDIDATES); do "$$python" -c '$(IS_RUNTIME)' 2>/dev/null && echo "$$python" && break; done)

# `make invoke`, on a machine that cannot run what is deployed, names its own interpreter here: the same build, for that one.
ifdef WFE_BUILD_PYTHON
TARGET_PYTHON = $(WFE_BUILD_PYTHON)
PIP := "$(WFE_BUILD_PYTHON)" -m pip install --only-binary=:all:
else
TARGET_PYTHON = $(RUNTIME_PYTHON)
# The project's own environment has pip; the machine's python3 need not have it.
PIP := $(firstword $(wildcard .venv/bin/python .local/sam/bin/python) python3) -m pip install --only-binary=:all: --platform $(PLATFORM) --implementation cp --python-version $(PYTHON_VERSION)
endif

# Byte code of another version would be dead weight, and /opt is read-only in Lambda, so a sandbox could not write its own at every cold start.
# unchecked-hash: zipping changes file times, which would make every timestamped .pyc invalid.
define compile
@if [ -n "$(TARGET_PYTHON)" ]; then \
  "$(TARGET_PYTHON)" -m compileall -q --invalidation-mode unchecked-hash -s "$(ARTIFACTS_DIR)" -p /opt "$(ARTIFACTS_DIR)/python"; \
else \
  echo "note: no Python $(PYTHON_VERSION) found: the layer is built without byte code, cold starts are slower"; \
fi
endef

# Asked by local/lambdas/target.py: `make -f layers/target.mk runtime-python`.
runtime-python:
	@echo "$(RUNTIME_PYTHON)"
