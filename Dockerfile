# The image of a node: one static binary and nothing else. It works with a
# read-only root file system and as any user; only an embedded etcd writes, to
# /var/lib/weft.
#
#   docker build -t weft .                        # compiles in a container
#   docker build -t weft --build-arg VERSION=1.2.3 --build-arg COMMIT=$(git rev-parse HEAD) .
#   make image                                    # compiles here; needs no registry
#
# No stage fails for want of the binary, so that builders which run every stage
# (docker-compose 1.29, and docker without BuildKit) can use the file as well.

FROM scratch AS base
USER 65532:65532
EXPOSE 8080
# Listening on every address needs authentication, or the consent to go without
# (WEFT_INSECURE=true); else the node refuses to start and says so.
ENV WEFT_HTTP_ADDR=0.0.0.0:8080 \
    WEFT_DATA_DIR=/var/lib/weft
# With its file, the directory is the user's, and so is a volume made from it.
COPY --chown=65532:65532 LICENSE /var/lib/weft/
HEALTHCHECK --interval=5s --timeout=4s --start-period=30s --retries=3 CMD ["/weft", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/weft"]

# The binary that `make build` made. A pattern may match nothing.
FROM base AS prebuilt
COPY LICENSE wef[t] /

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY cmd cmd
COPY internal internal
COPY pkg pkg
ARG VERSION=
ARG COMMIT=
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X github.com/weft-run/weft/internal/people/command.stamped=${VERSION} -X github.com/weft-run/weft/internal/people/command.stampedCommit=${COMMIT}" -o /weft ./cmd/weft

FROM base
COPY --from=build /weft /weft
