# Runwire as an image: see docs/deploy.md. A test runs these steps in an empty folder, as an unprivileged user.

# npm is needed to build, and not to run. Both stages use the Node that the lock file pins.
FROM node:24-bookworm-slim AS build
# That Node needs libatomic1, and neither base image contains it.
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY package.json package-lock.json tsconfig.json LICENSE README.md ./
COPY scripts/build ./scripts/build
COPY packages ./packages
# No package that is used needs an install script, so none may run one.
RUN npm ci --ignore-scripts --no-audit --no-fund
RUN npm run build
# The built packages contain their dependencies, so the image needs them and Node only.
RUN npm install --prefix /app --install-links --offline --ignore-scripts --no-save --no-audit --no-fund \
  ./packages/agency/dist ./packages/documents/dist ./packages/server/dist ./packages/cli/dist
RUN cp -L node_modules/.bin/node /app/node_modules/.bin/node
RUN mkdir -m 700 /data

FROM debian:bookworm-slim
# bubblewrap isolates the commands of agents: docs/sandbox.md has the settings that it needs.
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap libatomic1 && rm -rf /var/lib/apt/lists/*
# Programs for the commands of agents.
RUN apt-get update && apt-get install -y --no-install-recommends bsdextrautils bzip2 file jq patch python3 python3-matplotlib python3-numpy python3-pandas sqlite3 unzip xz-utils zip && rm -rf /var/lib/apt/lists/*
WORKDIR /app
# The files belong to root: the server writes to its data folder only.
COPY --from=build /app ./
COPY --from=build --chown=10001:10001 /data /data
ENV PATH=/app/node_modules/.bin:$PATH HOST=0.0.0.0 RUNWIRE_DATA_DIR=/data
# Your own agencies: mount a folder read-only, and set RUNWIRE_AGENCIES_DIR to its path (docs/deploy.md).
USER 10001:10001
VOLUME /data
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8787}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The image has no init: the server handles SIGTERM and SIGINT itself, also as process 1, and waits for the processes it starts.
STOPSIGNAL SIGTERM
ENTRYPOINT ["runwire"]
CMD ["serve"]
