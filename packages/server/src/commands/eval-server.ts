import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compose } from '../compose/compose.ts';
import { type Environment, readConfig } from '../config/read-config.ts';
import { createLogger } from '../telemetry/logger.ts';

/** A server in this process. Its data is deleted with it. */
export interface EvalServer extends AsyncDisposable {
  readonly url: string;
  readonly apiKey: string;
  readonly integration: string;
}

/** Settings that have no effect on how agents answer. */
const LEFT_OUT =
  /^(HOST|PORT|DATABASE_URL|S3_.*|AWS_.*|RUNWIRE_(AGENCIES_WATCH|PUBLIC_URL|STAGING_URL|URL|INTEGRATION|SECRET|DATABASE_POOL|WEBHOOK_ALLOW|TRUSTED_PROXIES|TRACE_CONTENT|METRICS_.*|LOG_.*)|OTEL_.*)$/;

/** Starts a server with these agencies, models and sandbox, on a free port. */
export async function startEvalServer(env: Environment): Promise<EvalServer> {
  await using stack = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'runwire-evals-'));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  const apiKey = randomBytes(32).toString('base64url');
  const { config, secrets } = readConfig({
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !LEFT_OUT.test(name))),
    PORT: '0',
    RUNWIRE_DATA_DIR: dataDir,
    RUNWIRE_API_KEY: apiKey,
    RUNWIRE_LOG_LEVEL: 'silent',
  });
  const onFatal = (error: unknown) => {
    process.stderr.write(`The store failed: ${error instanceof Error ? error.stack : error}\n`);
    process.exit(1);
  };
  const server = stack.use(await compose(config, secrets, onFatal, { logger: createLogger('silent') }));
  const owned = stack.move();
  const { url, firstIntegration } = server;
  return { url, apiKey, integration: firstIntegration ?? 'demo', [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
