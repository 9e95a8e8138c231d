import type { AgencyDefinition } from '@runwire/agency';
import { AccountChanges } from '../accounts/accounts-version.ts';
import { Authentication } from '../accounts/authenticate.ts';
import { checkCreditPrices } from '../accounts/credit-prices.ts';
import { firstKey, firstStart } from '../accounts/first-start.ts';
import { DEMO_AGENCY, Integrations } from '../accounts/integrations.ts';
import { KeySigning } from '../accounts/key-signing.ts';
import { Keys } from '../accounts/keys.ts';
import { Members } from '../accounts/members.ts';
import { IntegrationOwnership } from '../accounts/owned-integration.ts';
import { Owners } from '../accounts/owners.ts';
import { RevokedStreams } from '../accounts/revoked-streams.ts';
import { RunAdmission } from '../admission/admit-run.ts';
import { Agencies } from '../agencies/agencies.ts';
import { demoAgency } from '../agencies/demo-agency.ts';
import { offlineModel } from '../agent/models/offline-model.ts';
import type { OpenAiModels, OpenAiOptions } from '../agent/models/openai-model.ts';
import type { Model } from '../agent/ports.ts';
import { AttachmentBlobs } from '../attachments/attachment-blobs.ts';
import { BlobSweep } from '../attachments/blob-sweep.ts';
import { Chats } from '../chats/chats.ts';
import { healTurn } from '../chats/heal-history.ts';
import type { Config, Limits, Secrets } from '../config/config.ts';
import { VERSION } from '../domain/version.ts';
import type { WaitAt } from '../domain/wait-points.ts';
import { drain } from '../engine/drain.ts';
import { Engine } from '../engine/engine.ts';
import { recoverOrphans } from '../engine/takeover/recover-orphans.ts';
import { TakeoverLoop } from '../engine/takeover/takeover-loop.ts';
import { EventLog } from '../eventlog/event-log.ts';
import { FarLogs } from '../eventlog/far-logs.ts';
import { Retention } from '../eventlog/retention.ts';
import { FormSweep } from '../files/form-sweep.ts';
import type { MountStore } from '../files/mount-store.ts';
import { MountSweep } from '../files/mount-sweep.ts';
import { checkForm } from '../files/post-policy/check-form.ts';
import { SandboxFiles } from '../files/sandbox-files.ts';
import { UploadSigning } from '../files/sign-upload.ts';
import { UploadSecrets } from '../files/upload-secrets.ts';
import type { Network } from '../guarded-fetch/guarded-fetch.ts';
import { buildApp } from '../http/app.ts';
import { BodyReader } from '../http/body/body-reader.ts';
import { DefaultFraming } from '../http/encoders/default-framing.ts';
import { listeningAddress, listeningUrl } from '../http/listening-url.ts';
import { MetricsListener } from '../http/metrics-listener.ts';
import { OpenRequests } from '../http/open-requests.ts';
import { RequestIds } from '../http/request-id.ts';
import { accountRoutes } from '../http/routes/accounts.ts';
import { chatRoutes } from '../http/routes/chats.ts';
import { createAgencyUpload } from '../http/routes/create-agency-upload.ts';
import { fileRoutes } from '../http/routes/files.ts';
import { getCompletion } from '../http/routes/get-completion.ts';
import { receiveUpload } from '../http/routes/receive-upload.ts';
import { runEvents } from '../http/routes/run-events.ts';
import { runRoutes } from '../http/routes/runs.ts';
import { serviceRoutes } from '../http/routes/service.ts';
import { usageRoutes } from '../http/routes/usage.ts';
import { Streams } from '../http/run-stream.ts';
import { FairBudget } from '../lib/fair-budget.ts';
import { monotonicMs } from '../lib/monotonic.ts';
import { NodeLease } from '../nodes/node-lease.ts';
import { Nodes } from '../nodes/node-list.ts';
import { NodeSweep } from '../nodes/node-sweep.ts';
import { registerOnlyNode } from '../nodes/only-node.ts';
import { registerNode, releaseThisNode, storeNodeAddress } from '../nodes/register-node.ts';
import { CancelIntents } from '../runs/cancel-intents.ts';
import { cancelRun } from '../runs/cancel-run.ts';
import { DisconnectWatch } from '../runs/disconnect-watch.ts';
import { FarReaders } from '../runs/far-readers.ts';
import { RunReads } from '../runs/read-runs.ts';
import { runSteps } from '../runs/run-steps.ts';
import { mountFiles } from '../sandbox/mount-files.ts';
import type { BlobStore } from '../storage/blob-store.ts';
import { LargePages } from '../store/large-pages.ts';
import type { Notifier } from '../store/notifier.ts';
import { patientReads } from '../store/patient-reads.ts';
import type { JudgeCommit } from '../store/postgres/commit-outcome.ts';
import { integrationById } from '../store/queries/accounts.ts';
import { first, type Store } from '../store/store.ts';
import { type NodeIdentity, ThisNode } from '../store/this-node.ts';
import { WriteProbe } from '../store/write-probe.ts';
import { EventLoopDelay } from '../telemetry/event-loop-delay.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { openAttachments } from './open-attachments.ts';
import { openFiles } from './open-files.ts';
import { openStore } from './open-store.ts';
import type { RunningServer } from './running-server.ts';

const STORE_RETRY_MS = 500;
const READY_GOOD_FOR_MS = 1000;
const READY_PATIENCE_MS = 2000;

/** What tests and proofs put in place of the real thing, or beside it. */
export interface Overrides {
  readonly model?: Model;
  readonly agencies?: Readonly<Record<string, AgencyDefinition>>;
  readonly limits?: Partial<Limits>;
  readonly waitAt?: WaitAt;
  readonly judgeCommit?: JudgeCommit;
  readonly healTurn?: typeof healTurn;
  readonly checkForm?: typeof checkForm;
  readonly logger?: Logger;
  /** Wraps the store, so that a proof can plant a fault. */
  readonly wrapStore?: (store: Store) => Store;
  /** Wraps the files of the integrations. */
  readonly wrapMount?: (mount: MountStore) => MountStore;
  /** Wraps the bytes of attachments. */
  readonly wrapBlobs?: (blobs: BlobStore) => BlobStore;
  /** Replaces the listener for hints of other nodes, so that a proof can drop them. */
  readonly notifier?: Notifier;
  /** Makes the budgets that owners share, so that a proof can plant a fault. */
  readonly newBudget?: (total: number) => FairBudget;
  /** Replaces the network over which attachments are fetched. */
  readonly network?: Network;
}

/** Loading the client takes 0.13 s of processor time, so it is loaded only if a provider is set. */
export async function openAiModels(options: OpenAiOptions): Promise<OpenAiModels> {
  const { OpenAiModels } = await import('../agent/models/openai-model.ts');
  return new OpenAiModels(options);
}

/** Puts the parts together: the only place that knows which adapters exist. */
export async function compose(
  config: Config,
  secrets: Secrets,
  onFatal: (error: unknown) => void,
  overrides: Overrides = {},
): Promise<RunningServer> {
  const limits: Limits = { ...config.limits, ...overrides.limits };
  const logger = overrides.logger ?? createLogger(config.logLevel);
  const { waitAt, judgeCommit } = overrides;
  await using stack = new AsyncDisposableStack();

  const metrics = new Metrics();
  stack.use(new EventLoopDelay(metrics.eventLoopDelay));
  const node = new ThisNode();
  const onCommit = (commitMs: number, syncTookMs: number) => {
    metrics.commit.observe(commitMs);
    metrics.sync.observe(syncTookMs);
  };
  const onFenced = (identity: NodeIdentity) => lease?.lose(identity);
  const onConflict = (kind: string) => metrics.conflicts.add({ kind });
  // A node without peers sends no hints.
  const hintsOf = () => (lease?.hasPeers === false ? null : (node.identity?.nodeId ?? null));
  const hooks = { waitAt, onFatal, onCommit, onConflict, hintsOf, node, onFenced, judgeCommit };
  const { leaseMs, beatMs } = limits;
  const beside = { leaseMs, beatMs, logger };
  const opened = await openStore(config, secrets, beside, hooks, stack);
  const store = overrides.wrapStore?.(opened.store) ?? opened.store;
  const signing = new KeySigning(opened.secret);

  const models = new Map([offlineModel, ...(overrides.model ? [overrides.model] : [])].map((m) => [m.id, m]));
  const openAi =
    config.openAi === null
      ? null
      : stack.use(
          await openAiModels({ ...config.openAi, apiKey: secrets.openAiKey, silenceMs: limits.modelSilenceMs }),
        );
  const defaultModel = overrides.model?.id ?? config.model;
  const agencies = await Agencies.load({ [DEMO_AGENCY]: demoAgency, ...overrides.agencies }, defaultModel);

  const hasOpaqueKey = secrets.apiKeyHash !== null;
  const files = await openFiles(config, { store, secret: opened.secret }, limits, waitAt, stack);
  const { uploads } = files;
  const blobs = overrides.wrapBlobs?.(files.blobs) ?? files.blobs;
  const mount = overrides.wrapMount?.(files.mount) ?? files.mount;
  const isFirstStart = await firstStart(store, agencies);
  await checkCreditPrices(store.reads, agencies, config.prices);
  const { commitMs: syncMs, warning } = await opened.measure();
  if (warning !== null) logger.warn({ syncMs }, warning);

  // Nodes elsewhere would keep files that this one does not see, unless their disk is one.
  const mayHavePeers = opened.isAlone || config.sharedDisk || mount.kind !== 'disk';
  let listeningAt: string | null = null;
  const register = (closed?: AbortSignal) =>
    mayHavePeers
      ? registerNode(store, opened.isAlone, listeningAt)
      : registerOnlyNode(store, beside, listeningAt, closed);
  const registeredAt = monotonicMs();
  const identity = await register();
  node.registered(identity);

  // After the last flush: a run that this stop leaves unfinished did not crash.
  stack.defer(() => releaseThisNode(store, node, logger));
  // Set below, when the parts exist that stop runs and that take over runs of other nodes.
  let onLost = () => {};
  let onCertain = () => {};
  let taking: TakeoverLoop | null = null;
  const lease =
    opened.beats === null
      ? null
      : stack.use(
          new NodeLease(
            {
              node,
              beats: opened.beats(),
              leaseMs: limits.leaseMs,
              register,
              onLost: () => onLost(),
              onCertain: () => onCertain(),
              onSilent: (silent) => taking?.fence(silent),
              onOrphans: () => taking?.look(),
              logger,
            },
            registeredAt,
          ),
        );

  const notifier = stack.use(overrides.notifier ?? opened.notifier());
  const farLogs = opened.isAlone ? null : stack.use(new FarLogs(store.reads, notifier, logger));
  const onStored = (lagMs: number) => metrics.eventLag.observe(lagMs);
  const eventLog = stack.use(new EventLog(store, limits, logger, onStored, farLogs));
  const model = (id: string) => models.get(id) ?? openAi?.model(id) ?? null;
  const { prices } = config;
  const { maxAttempts } = limits;
  const windowTokens = limits.modelWindowTokens;
  const prompt = { windowTokens };
  const takers = { store, eventLog, agencies, model, prices, prompt, node, maxAttempts, logger, metrics };
  const maxTaken = opened.isAlone ? Number.POSITIVE_INFINITY : limits.activeRuns;
  const { resumed, ended: endedRuns } = await recoverOrphans(takers, () => maxTaken);

  const retention = stack.use(new Retention(store, limits, logger));
  const attachmentBlobs = new AttachmentBlobs(store.reads, blobs);
  const changes = stack.use(new AccountChanges(store, limits, logger));
  await changes.look();
  const hasSeveralOwners = () => changes.hasSeveralOwners;
  const newBudget = overrides.newBudget ?? ((total: number) => new FairBudget(total, hasSeveralOwners));
  const runSlots = newBudget(limits.activeRuns);
  const { network } = overrides;
  const allow = config.fetchAllow;
  const attachments = openAttachments(limits, { allow, blobs: attachmentBlobs, network, newBudget }, stack);
  const blobSweep = stack.use(new BlobSweep(store, blobs, limits, logger));
  const mountSweep = stack.use(new MountSweep(store, mount, limits, logger));

  const nodeSweep = stack.use(new NodeSweep(store, limits, logger));
  const formSweep = stack.use(new FormSweep(store, limits, logger));

  const reads = patientReads(store.reads, limits.accountsPatienceMs);
  const ownership = new IntegrationOwnership(reads, changes);
  const authentication = new Authentication({
    store,
    reads,
    signing,
    opaqueKeyHash: secrets.apiKeyHash,
    changes,
    maxVerified: limits.verifiedTokens,
    logger,
  });

  let shuttingDown = false;
  const isShuttingDown = () => shuttingDown;
  const runsHere = (runId: string) => eventLog.hot(runId) !== undefined;
  const farReaders = opened.isAlone ? null : stack.use(new FarReaders(store, node, runsHere, logger));
  await farReaders?.forgetGoneNodes();
  const disconnects = new DisconnectWatch(
    limits.disconnectMs,
    (integrationId, runId) => cancelRun(cancel, integrationId, runId, 'immediate'),
    logger,
    farReaders,
  );
  const engine = stack.use(
    new Engine({
      store,
      eventLog,
      agencies,
      model,
      files: (integrationId) => mountFiles(mount, integrationId),
      prices,
      maxSteps: limits.stepsPerRun,
      prompt: { heal: overrides.healTurn ?? healTurn, windowTokens },
      attachments,
      runSlots,
      maxRunSeconds: limits.maxRunSeconds,
      modelSilenceMs: limits.modelSilenceMs,
      disconnects,
      retryMs: STORE_RETRY_MS,
      ...(lease === null ? {} : { mayCall: (signal: AbortSignal) => lease.mayCall(signal) }),
      waitAt,
      logger,
      metrics,
    }),
  );
  if (!opened.isAlone) {
    const stop = engine.stop.bind(engine);
    stack.use(
      new CancelIntents({ reads: store.reads, node, notifier, activeRuns: () => engine.activeRuns, stop, logger }),
    );
  }
  // From here on they can be followed and cancelled; they go on once the server listens.
  const listening = Promise.withResolvers<void>();
  stack.defer(() => listening.resolve());
  const stillOurs = resumed.filter(({ as }) => as === node.identity);
  for (const { run } of stillOurs) engine.start(run, listening.promise);
  const admission = new RunAdmission({
    store,
    agencies,
    engine,
    blobs: attachmentBlobs,
    sandboxFiles: new SandboxFiles(mount),
    node,
    prices: config.prices,
    isShuttingDown,
    runSlots,
    reserveTokens: limits.reserveTokens,
    logger,
  });
  const pages = new LargePages(newBudget(1), newBudget(limits.pagesBytes));
  const runReads = new RunReads(store, eventLog, pages);
  const chats = new Chats(store, pages);
  const streams = stack.use(new Streams(limits, disconnects, waitAt, () => lease?.isHeld === true));
  onLost = () => streams.cutRuns(engine.loseAll());
  stack.use(new RevokedStreams({ streams, reads, everyMs: limits.accountsVersionMs, logger }));
  onCertain = () => streams.goOn();
  const encoder = new DefaultFraming();

  let listensOn = '';
  const servers = { publicUrl: () => config.publicUrl ?? listensOn, stagingUrl: config.stagingUrl };
  const bodies = stack.use(new BodyReader(limits, { bytes: newBudget(limits.bodiesBytes), parsing: newBudget(1) }));
  const requestIds = new RequestIds(identity.boot);
  const app = await buildApp({
    authentication,
    bodies,
    limits,
    servers,
    logger,
    logsRequests: overrides.logger !== undefined || config.logLevel === 'debug',
    requestIds,
    isShuttingDown,
    metrics,
  });
  const openRequests = new OpenRequests(app.server);
  stack.defer(() => app.close());
  // Gone before the connections are cut: "shutdown … is no disconnect".
  stack.use(disconnects);
  getCompletion(app, {
    ownership,
    admission,
    runReads,
    eventLog,
    streams,
    encoder,
    limits,
    fetchAllow: config.fetchAllow,
    metrics,
  });
  runEvents(app, { ownership, runReads, eventLog, streams, encoder });
  const cancel = {
    store,
    runReads,
    signalStop: (runId: string, mode: 'immediate' | 'after_step') => engine.stop(runId, mode),
    ended: (runId: string) => engine.ended(runId),
    elsewhere: opened.isAlone ? null : notifier,
    patienceMs: limits.cancelPatienceMs,
    waitAt,
  };
  runRoutes(app, {
    ownership,
    runReads,
    cancel,
    steps: runSteps.bind(null, { reads: store.reads, runReads, pages }),
  });
  receiveUpload(app, {
    mount,
    secrets: new UploadSecrets(store, opened.secret),
    hasIntegration: async (integrationId) => (await first(reads.all(integrationById, { integrationId }))) !== undefined,
    checkForm: overrides.checkForm ?? checkForm,
    publicUrl: config.publicUrl,
    limits,
    waitAt,
    logger,
  });
  usageRoutes(app, { ownership, runReads });
  const signer = new UploadSigning({
    store,
    mount,
    target: uploads,
    quotaBytes: limits.mountQuotaBytes,
    graceMs: limits.uploadGraceMs,
  });
  createAgencyUpload(app, { ownership, signing: signer, publicUrl: config.publicUrl });
  fileRoutes(app, ownership, mount);
  chatRoutes(app, ownership, chats);
  accountRoutes(app, {
    ownership,
    integrations: new Integrations(store, changes, agencies, limits.maxRunSeconds, config.prices),
    members: new Members(store, pages),
    keys: new Keys(store, changes, signing, hasOpaqueKey),
    owners: new Owners(store, changes, signing),
  });
  const writeProbe = new WriteProbe(store, READY_GOOD_FOR_MS, READY_PATIENCE_MS);
  const isReady = async () => !shuttingDown && node.identity !== null && (await writeProbe.takesWrites());
  const probes = {
    version: VERSION,
    activeRuns: () => engine.activeRuns,
    openStreams: () => streams.size,
    fullStreams: () => streams.full,
    writerQueue: () => opened.queueLength(),
    unstoredBytes: () => eventLog.unstoredBytes,
    heldBodyBytes: () => bodies.heldBytes,
    attachmentsBytes: () => attachments.budget.held,
    beatAgeMs: () => lease?.beatAgeMs ?? 0,
    syncMs,
    sweepEvents: () => retention.sweep(),
    sweepBlobs: () => blobSweep.sweep(),
    sweepMounts: () => mountSweep.sweep(),
    sweepNodes: () => nodeSweep.sweep(),
    sweepForms: () => formSweep.sweep(),
  };
  const metricsText = () => metrics.text(probes);
  serviceRoutes(app, {
    agencies,
    isReady,
    storeKind: store.kind,
    metrics: metricsText,
    nodes: new Nodes({ store, node, isAlone: opened.isAlone, isShuttingDown }),
  });

  const metricsListener =
    config.metrics === null
      ? null
      : stack.use(await MetricsListener.start({ ...config.metrics, metrics: metricsText, requestIds }));
  await app.listen({ host: config.host, port: config.port, backlog: 4096 });
  listensOn = listeningUrl(app.server);
  listening.resolve();
  listeningAt = listeningAddress(app.server);
  await storeNodeAddress(store, node, listeningAt);
  const apiKey = hasOpaqueKey ? null : await firstKey(store, signing);
  stack.defer(() => {
    shuttingDown = true;
  });
  if (lease !== null) {
    const room = () => (shuttingDown ? 0 : limits.activeRuns - engine.activeRuns);
    taking = stack.use(new TakeoverLoop(takers, { room, start: (run) => engine.start(run) }));
  }
  retention.start();
  blobSweep.start();
  mountSweep.start();
  nodeSweep.start();
  formSweep.start();
  const owned = stack.move();
  return {
    url: listensOn,
    metricsUrl: metricsListener?.url ?? null,
    apiKey,
    isFirstStart,
    resumedRuns: stillOurs.length,
    endedRuns,
    probes,
    drain() {
      shuttingDown = true;
      lease?.drain();
      return drain({ engine, admitting: () => admission.underWay, openRequests, limits, isAlone: opened.isAlone });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
