# VIMBank in a container: one static binary, no shell, no root. A bank is the
# volume /var/lib/vimbank; settings come from VIMBANK_* variables or a file named
# by VIMBANK_CONFIG.
#
#   docker build -t vimbank .
#   docker run --rm --read-only -v bank:/var/lib/vimbank vimbank recall --user ann "what must I not eat?"

# Not below the version in go.mod; deploy/versions.yaml has it too.
ARG GO_VERSION=1.26.8
# Give it with @sha256:... to pin every byte.
ARG BASE=gcr.io/distroless/static-debian12:nonroot

FROM --platform=$BUILDPLATFORM golang:${GO_VERSION} AS build
WORKDIR /src
ENV CGO_ENABLED=0 GOTOOLCHAIN=local
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG TARGETOS TARGETARCH
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags='-s -w' -o /out/vimbank ./cmd/vimbank
# A volume takes over who owns the folder that it covers.
RUN mkdir -p /out/bank

FROM ${BASE}
ARG VERSION=0.0.0-dev REVISION=unknown
LABEL org.opencontainers.image.title="VIMBank" \
      org.opencontainers.image.description="A memory for agents: it remembers, recalls with reasons, and forgets" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /out/vimbank /usr/local/bin/vimbank
COPY --from=build /src/LICENSE /src/THIRD_PARTY.md /usr/share/doc/vimbank/
COPY --from=build --chown=65532:65532 --chmod=0700 /out/bank /var/lib/vimbank
ENV VIMBANK_BANK=/var/lib/vimbank \
    VIMBANK_ADMIN_ADDR=127.0.0.1:9464
USER 65532:65532
VOLUME /var/lib/vimbank
# Of a container that runs upkeep; whatever else it runs ends by itself.
HEALTHCHECK --interval=10s --timeout=10s --start-period=60s --retries=6 CMD ["/usr/local/bin/vimbank", "health"]
ENTRYPOINT ["/usr/local/bin/vimbank"]
CMD ["upkeep"]
