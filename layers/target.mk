# What the layers are built for, read from the one place that says it: the parameters of template.yaml.
# SAM runs the makefiles that include this file in the folder of the template (WorkingDirectory in their Metadata).
parameter = $(shell sed -n '/^  $(1):$$/,/^  [A-Z]/ s/^    Default: *//p' template.yaml)

PYTHON_VERSION := $(patsubst python%,%,$(call parameter,Runtime))
PLATFORM := manylinux2014_$(patsubst arm64,aarch64,$(call parameter,Architecture))
PIP_TARGET := --only-binary=:all: --platform $(PLATFORM) --implementation cp --python-version $(PYTHON_VERSION)

# The interpreter of that version: on PATH (tried, because a pyenv shim may exist and still fail), else among pyenv's versions.
CANDIDATES := python$(PYTHON_VERSION) $(wildcard $(or $(PYENV_ROOT),$(HOME)/.pyenv)/versions/$(PYTHON_VERSION).*/bin/python$(PYTHON_VERSION))
TARGET_PYTHON = $(shell for python in $(CANDIDATES); do "$$python" -c "" 2>/dev/null && echo "$$python" && break; done)

# Byte code of another version would be dead weight, and /opt is read-only in Lambda, so a sandbox could not write its own at every cold start.
# unchecked-hash: zipping changes file times, which would make every timestamped .pyc invalid.
define compile
@if [ -n "$(TARGET_PYTHON)" ]; then \
  "$(TARGET_PYTHON)" -m compileall -q --invalidation-mode unchecked-hash -s "$(ARTIFACTS_DIR)" -p /opt "$(ARTIFACTS_DIR)/python"; \
else \
  echo "No Python $(PYTHON_VERSION) found: the layer is built without byte code, cold starts are slower"; \
fi
endef
