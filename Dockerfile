# docker build -t frictiond .
# docker run --rm -p 127.0.0.1:8080:8080 -e FRICTIOND_ALLOW_HOST=localhost frictiond
# A release names its base by digest: make image BASE=debian:bookworm-slim@sha256:... (scripts/image has the labels that
# depend on the commit).
ARG BASE=debian:bookworm-slim
ARG VERSION=0.1.0

# Nothing remains that depends on when and where this was built: caches, logs, copies of older files. useradd takes the date
# from SOURCE_DATE_EPOCH; the builder sets the times of files.
FROM ${BASE} AS system
ARG SOURCE_DATE_EPOCH
RUN apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
    libmicrohttpd12 libgnutls30 libjansson4 libxxhash0 libgomp1 libstdc++6 zlib1g \
 && groupadd --gid 65532 frictiond \
 && useradd -K UID_MAX=65532 --uid 65532 --gid 65532 --no-log-init --no-create-home --home-dir /nonexistent \
    --shell /usr/sbin/nologin frictiond \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/cache/apt/archives/*.deb /var/cache/ldconfig/aux-cache \
    /var/cache/debconf/*-old /var/lib/dpkg/*-old /var/log/dpkg.log /var/log/alternatives.log /var/log/apt/*.log* \
    /etc/passwd- /etc/group- /etc/shadow- /etc/gshadow- /etc/subuid- /etc/subgid-

FROM ${BASE} AS build
WORKDIR /src
COPY scripts/packages scripts/
RUN scripts/packages compile
COPY Makefile LICENSE ./
COPY core core
COPY api api
COPY server server
COPY web web
# The pages at /docs, and what they link to.
COPY *.md CITATION.cff ./
COPY docs docs
COPY deploy/README.md deploy/
COPY examples examples
COPY clients clients
COPY tests/examples/test_validation.py tests/examples/
COPY scripts/site scripts/strip_web scripts/
RUN make -j"$(nproc)" && make install-program DESTDIR=/out PREFIX=/usr
# Beside the program: its documentation, its licence, and a bill of materials of the image.
COPY scripts/bom scripts/
COPY --from=system /usr/lib/os-release /system/usr/lib/
COPY --from=system /usr/share/doc /system/usr/share/doc
COPY --from=system /var/lib/dpkg /system/var/lib/dpkg
ARG BASE
ARG VERSION
ARG SOURCE_DATE_EPOCH
RUN mkdir -p /out/usr/share/doc/frictiond \
 && cp -R README.md docs deploy /out/usr/share/doc/frictiond/ \
 && cp LICENSE /out/usr/share/doc/frictiond/copyright \
 && scripts/bom /system /out/usr/bin/frictiond > /out/usr/share/doc/frictiond/frictiond.spdx.json \
 && chmod -R u=rwX,go=rX /out

FROM system
COPY --from=build /out/usr/bin/frictiond /usr/bin/frictiond
COPY --from=build /out/usr/share/doc/frictiond /usr/share/doc/frictiond

ARG VERSION
ARG BASE
LABEL org.opencontainers.image.title="frictiond" \
      org.opencontainers.image.description="Contact friction evaluated over HTTP: potential, gradient, Hessian" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.documentation="file:///usr/share/doc/frictiond/README.md" \
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
