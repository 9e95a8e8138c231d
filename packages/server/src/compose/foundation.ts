import { checkCreditPrices, creditProblem } from '../accounts/credit-prices.ts';
import { firstStart } from '../accounts/first-start.ts';
import { DEMO_AGENCY } from '../accounts/integrations.ts';
import { Agencies } from '../agencies/agencies.ts';
import { demoAgency } from '../agencies/demo-agency.ts';
import { serverLimits } from '../agencies/load-agency.ts';
import { FolderWatch } from '../agencies/watch-folder.ts';
import type { Config, Secrets, TracingConfig } from '../config/config.ts';
import type { Limits } from '../config/limits.ts';
import { ErasedIds } from '../domain/account/erased-ids.ts';
import { VERSION } from '../domain/version.ts';
import { type EarlierNodes, EarlierNodesWatch, noEarlierNodes } from '../store/earlier-nodes.ts';
import type { Store } from '../store/store.ts';
import type { NodeIdentity } from '../store/this-node.ts';
import { EventLoopDelay } from '../telemetry/event-loop-delay.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { EndpointCache } from '../webhooks/endpoint-cache.ts';
import { EventOutbox } from '../webhooks/event-outbox.ts';
import { chooseSandbox, type SandboxChoice } from './choose-sandbox.ts';
import { NodeLife } from './node-life.ts';
import { type OpenedFiles, openFiles } from './open-files.ts';
import { type OpenedModels, openModels } from './open-models.ts';
import { openProcesses } from './open-processes.ts';
import { type OpenedStore, openStore } from './open-store.ts';
import type { Overrides } from './overrides.ts';

/** What every part of the server is built on. `stack` releases the parts in the reverse order of their opening. */
export interface Foundation extends OpenedStore, OpenedFiles {
  readonly ids: ErasedIds;
  readonly config: Config;
  readonly secrets: Secrets;
  readonly limits: Limits;
  readonly overrides: Overrides;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Null if traces are off. */
  readonly tracing: Tracing | null;
  readonly models: OpenedModels;
  readonly agencies: Agencies;
  readonly sandbox: SandboxChoice;
  readonly life: NodeLife;
  readonly identity: NodeIdentity;
  readonly earlierNodes: EarlierNodes;
  /** The integration to try first; null unless this is the first start. */
  readonly firstIntegration: string | null;
  /** A commit's median time, measured at this start. */
  readonly commitMs: number;
  /** The clock of everything that waits for hours. */
  readonly now: () => number;
  readonly endpointCache: EndpointCache;
  readonly outbox: EventOutbox;
  readonly stack: AsyncDisposableStack;
}

/** Opens the store, the files and the models that the settings name, checks them, and registers this node. */
export async function openFoundation(
  config: Config,
  secrets: Secrets,
  onFatal: (error: unknown) => void,
  overrides: Overrides,
  stack: AsyncDisposableStack,
): Promise<Foundation> {
  const limits: Limits = { ...config.limits, ...overrides.limits };
  const logger = overrides.logger ?? createLogger(config.logLevel);
  const metrics = new Metrics();
  stack.use(new EventLoopDelay(metrics.eventLoopDelay));
  const tracing = config.tracing === null ? null : stack.use(await loadTracing(config.tracing, logger));

  // The trial runs while the store opens. If the start fails, it still ends before the process does.
  const choosing = chooseSandbox(config.sandbox);
  const chosen = choosing.then(
    () => {},
    () => {},
  );
  stack.defer(() => chosen);

  const times = { leaseMs: limits.leaseMs, beatMs: limits.beatMs, logger };
  const life = new NodeLife(times);
  const hooks = {
    waitAt: overrides.waitAt,
    judgeCommit: overrides.judgeCommit,
    databaseTimes: overrides.databaseTimes,
    heartbeatThread: overrides.heartbeatThread ?? true,
    onFatal,
    onCommit: (commitMs: number, syncMs: number) => {
      metrics.commit.observe(commitMs);
      metrics.sync.observe(syncMs);
    },
    onConflict: (kind: string) => metrics.conflicts.add({ kind }),
    node: life.node,
    onFenced: (identity: NodeIdentity) => life.fenced(identity),
    getHints: () => life.hintSender(),
  };
  const opened = await openStore(config, secrets, times, hooks, stack);
  const store = overrides.wrapStore?.(opened.store) ?? opened.store;
  const processes = stack.use(openProcesses(config, secrets, { limits, logger, metrics }));
  const modelsOptions = { limits, replacement: overrides.model, logger, processes };
  const models = await openModels(config, secrets, modelsOptions, stack);
  const sandbox = await choosing;
  const agencies = await Agencies.load({
    definitions: { [DEMO_AGENCY]: demoAgency, ...overrides.agencies },
    folder: config.agenciesDir,
    models,
    processes,
    limits: serverLimits(limits),
    variable: secrets.variable,
    hasSandbox: sandbox.sandbox !== null,
    logger,
    checkLoaded: (all, loaded) => creditProblem(store.reads, all, loaded, config.prices),
    wrapFault: overrides.wrapFault,
  });
  stack.use(agencies);
  if (config.agenciesDir !== null && config.agenciesWatch) {
    stack.use(new FolderWatch(agencies, models, config.agenciesDir, logger));
  }
  const { secret } = opened;
  const ids = new ErasedIds(secret);
  const now = overrides.clock ?? Date.now;
  const endpointCache = new EndpointCache(store.reads, (error) =>
    logger.warn({ err: error }, 'webhook endpoints could not be read; retrying'),
  );
  const outbox = new EventOutbox(endpointCache, now);
  const parts = { store, secret, ids, node: life.node, outbox, logger };
  const files = await openFiles(config, parts, limits, overrides, stack);

  const firstIntegration = await firstStart(store, agencies, config.integration);
  await checkCreditPrices(store.reads, agencies, config.prices);
  const { commitMs, warning } = await opened.measure();
  if (warning !== null) logger.warn({ syncMs: commitMs }, warning);

  const { isAlone, beats } = opened;
  stack.use(life);
  const identity = await life.join({ store, isAlone, beats });
  const earlierNodes = isAlone ? noEarlierNodes : await watchEarlierNodes(store, limits, logger, stack);
  return {
    ...opened,
    ...files,
    store,
    ids,
    config,
    secrets,
    limits,
    overrides,
    logger,
    metrics,
    tracing,
    models,
    agencies,
    sandbox,
    life,
    identity,
    earlierNodes,
    firstIntegration,
    commitMs,
    now,
    endpointCache,
    outbox,
    stack,
  };
}

async function watchEarlierNodes(
  store: Store,
  { accountsVersionMs }: Limits,
  logger: Logger,
  stack: AsyncDisposableStack,
): Promise<EarlierNodes> {
  const onError = (error: unknown) =>
    logger.warn({ err: error }, 'what only the version before needs could not be removed yet; retrying');
  const watch = stack.use(new EarlierNodesWatch(store, accountsVersionMs, onError));
  await watch.start();
  return watch;
}

/** Loads OpenTelemetry only now: it takes 0.3 s and 26 MB. */
async function loadTracing(config: TracingConfig, logger: Logger): Promise<Tracing> {
  const { openTracing } = await import('../telemetry/open-tracing.ts');
  return openTracing(config, VERSION, logger);
}
