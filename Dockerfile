# docker build -t frictiond .
# docker run --rm -p 127.0.0.1:8080:8080 -e FRICTIOND_ALLOW_HOST=localhost frictiond
# A release names its base by digest: make image BASE=debian:bookworm-slim@sha256:...
ARG BASE=debian:bookworm-slim
FROM ${BASE} AS build
WORKDIR /src
COPY scripts/packages scripts/
RUN scripts/packages compile
COPY Makefile LICENSE ./
COPY core core
COPY api api
COPY server server
COPY web web
COPY docs/troubleshooting.md docs/
RUN make -j"$(nproc)" && make install-program DESTDIR=/out PREFIX=/usr

FROM ${BASE}
RUN apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
    libmicrohttpd12 libgnutls30 libjansson4 libxxhash0 libgomp1 libstdc++6 \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 65532 frictiond \
 && useradd -K UID_MAX=65532 --uid 65532 --gid 65532 --no-create-home --home-dir /nonexistent \
    --shell /usr/sbin/nologin frictiond
COPY --from=build /out/usr/bin/frictiond /usr/bin/frictiond
COPY --from=build /src/LICENSE /usr/share/doc/frictiond/copyright

ARG VERSION=0.1.0
ARG BASE
LABEL org.opencontainers.image.title="frictiond" \
      org.opencontainers.image.description="Contact friction evaluated over HTTP: potential, gradient, Hessian" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.base.name="${BASE}" \
      org.opencontainers.image.licenses="MIT"

# A number, so that an orchestrator can tell that the user is not root.
USER 65532:65532
# The server listens on all addresses of the container; the ports that are published decide who can reach it. ANONYMOUS has
# no effect if FRICTIOND_TOKENS is set.
ENV FRICTIOND_HOST=0.0.0.0 FRICTIOND_PORT=8080 FRICTIOND_ANONYMOUS=yes
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s \
    CMD ["frictiond", "health"]
ENTRYPOINT ["frictiond"]
