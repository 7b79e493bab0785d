# make build    the command, in bin/vimbank
# make test     every test
# make check    what a change must pass besides: gofmt, go vet, staticcheck, the
#               race detector over the quick tests, import rules and docs
# make bench    VIMBank beside its yardsticks, in a module of its own
# make deploy-test
#               chart, compose file and image, in a module of their own
# make golden   write the golden files anew, to look at what changed in the diff

GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

# VIMBank is pure Go. Only the race detector needs a C compiler.
export CGO_ENABLED := 0

.PHONY: build test check format vet staticcheck race bench deploy-test golden
.DEFAULT_GOAL := build

build:
	$(GO) build -trimpath -ldflags='-s -w' -o bin/vimbank ./cmd/vimbank

test:
	$(GO) test -timeout 30m ./...

check: format vet staticcheck race

format:
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "gofmt would change:"; echo "$$bad"; exit 1; fi

# The arm64 assembly is checked against its Go declarations on every machine.
vet:
	$(GO) vet ./...
	GOARCH=arm64 $(GO) vet ./internal/kernel

staticcheck:
	$(GO) run $(STATICCHECK) ./...

# Quick tests only (-short): the long ones run in `make test`. The import rules
# (internal/archtest) and the drift of the docs (internal/docs) are among them.
race:
	CGO_ENABLED=1 $(GO) test -race -short -vet=off -timeout 30m ./...

bench:
	cd bench && $(GO) run .

# Servers that VIMBANK_TEST_* name are held to the versions that are deployed.
# -count=1: the cache does not see that a file of another module has changed.
deploy-test:
	@bad=$$(gofmt -l deploy); if [ -n "$$bad" ]; then echo "gofmt would change:"; echo "$$bad"; exit 1; fi
	cd deploy && $(GO) vet . && $(GO) test -count=1 -timeout 10m .

golden:
	$(GO) test ./eval/... ./cmd/... -run 'Golden|Script' -update
