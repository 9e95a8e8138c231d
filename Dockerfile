# Runwire as an image: see docs/deploy.md. A test runs these steps in an empty folder, as an unprivileged user.

# The project brings its own Node as an npm package: npm is needed to build, and not to run.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages ./packages
# No package that is used needs an install script, so none may run one.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
RUN mkdir -m 700 /data

FROM debian:bookworm-slim
# Node's binary asks for it, and the base image has it not.
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
# It stays root's: the server writes to its data folder and nowhere else.
COPY --from=build /app ./
COPY --from=build --chown=10001:10001 /data /data
ENV PATH=/app/node_modules/.bin:$PATH HOST=0.0.0.0 RUNWIRE_DATA_DIR=/data
USER 10001:10001
VOLUME /data
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8787}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# No init in between: the server handles SIGTERM and SIGINT itself, also as process 1, and waits for the processes it starts.
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "-C", "runwire", "/app/packages/cli/src/main.ts"]
CMD ["serve"]
