import { Adjustments } from '../accounts/adjustments.ts';
import { ClientTokens } from '../accounts/client-tokens.ts';
import { SettingsByIntegration } from '../accounts/compatible-settings.ts';
import { Integrations } from '../accounts/integrations.ts';
import { Keys } from '../accounts/keys.ts';
import { Members } from '../accounts/members.ts';
import { Owners } from '../accounts/owners.ts';
import { People } from '../accounts/people.ts';
import { Sessions } from '../accounts/sessions.ts';
import { SignIn } from '../accounts/sign-in.ts';
import { readEval } from '../admission/eval-request.ts';
import { readRerun } from '../admission/rerun-request.ts';
import { auditFor } from '../audit/audit.ts';
import { AuditLog } from '../audit/audit-log.ts';
import { Chats } from '../chats/chats.ts';
import { Questions } from '../chats/questions.ts';
import type { NodeStats } from '../domain/node-stats.ts';
import type { Erasures } from '../erasure/erasures.ts';
import { checkForm } from '../files/post-policy/check-form.ts';
import { UploadSigning } from '../files/sign-upload.ts';
import { UploadSecrets } from '../files/upload-secrets.ts';
import { buildApp } from '../http/app.ts';
import { auditRequests } from '../http/audited.ts';
import type { BodyReader } from '../http/body/body-reader.ts';
import { compatibleApis } from '../http/compatible/compatible-apis.ts';
import { CompatibleStarts } from '../http/compatible/compatible-starts.ts';
import { builtConsole } from '../http/console/console-files.ts';
import { DefaultFraming } from '../http/encoders/default-framing.ts';
import { ForwardedForWarning } from '../http/forwarded-for.ts';
import { listeningAddress, listeningUrl } from '../http/listening-url.ts';
import { MetricsListener } from '../http/metrics-listener.ts';
import { OpenRequests } from '../http/open-requests.ts';
import { RequestIds } from '../http/request-id.ts';
import { accountRoutes } from '../http/routes/accounts.ts';
import { auditRoutes } from '../http/routes/audit.ts';
import { chatRoutes } from '../http/routes/chats.ts';
import { consolePages } from '../http/routes/console-pages.ts';
import { consoleSignIn } from '../http/routes/console-sign-in.ts';
import { createAgencyUpload } from '../http/routes/create-agency-upload.ts';
import { evalRoutes } from '../http/routes/evals.ts';
import { fileRoutes } from '../http/routes/files.ts';
import { getCompletion } from '../http/routes/get-completion.ts';
import { overviewRoutes } from '../http/routes/overview.ts';
import { questionRoutes } from '../http/routes/questions.ts';
import { receiveUpload } from '../http/routes/receive-upload.ts';
import { rerunRoutes } from '../http/routes/reruns.ts';
import { runAttachmentRoutes } from '../http/routes/run-attachments.ts';
import { runEvents } from '../http/routes/run-events.ts';
import { runRoutes } from '../http/routes/runs.ts';
import { type ScheduleRoutesDeps, scheduleRoutes } from '../http/routes/schedules.ts';
import { serviceRoutes } from '../http/routes/service.ts';
import { usageRoutes } from '../http/routes/usage.ts';
import { webhookRoutes } from '../http/routes/webhooks.ts';
import { RunStarts } from '../http/run-starts.ts';
import { StreamLimits } from '../http/stream-limits.ts';
import { Nodes } from '../nodes/node-list.ts';
import { compareRuns } from '../runs/compare-runs.ts';
import { continuedRuns } from '../runs/continued-runs.ts';
import { findRunAttachment } from '../runs/run-attachment.ts';
import { runSteps } from '../runs/run-steps.ts';
import { integrationById } from '../store/queries/accounts.ts';
import { ownerOfRun } from '../store/queries/runs.ts';
import { first } from '../store/store.ts';
import { WriteProbe } from '../store/write-probe.ts';
import type { EndpointDeps } from '../webhooks/endpoint-deps.ts';
import type { Foundation } from './foundation.ts';
import type { OpenedAccounts } from './open-accounts.ts';
import type { OpenedRuns } from './open-runs.ts';

const READY_GOOD_FOR_MS = 1000;
const READY_PATIENCE_MS = 2000;

type App = Awaited<ReturnType<typeof buildApp>>;

export interface Figures {
  /** The page that Prometheus reads. */
  readonly metricsText: () => string;
  readonly nodeStats: () => NodeStats;
}

/** Builds the HTTP app with all routes. */
export async function openHttp(
  foundation: Foundation,
  accounts: OpenedAccounts & {
    readonly erasures: Erasures;
    readonly schedules: ScheduleRoutesDeps;
    readonly webhooks: EndpointDeps;
  },
  runs: OpenedRuns,
  bodies: BodyReader,
  figures: Figures,
) {
  const { config, limits, overrides, logger, metrics, tracing, life, identity, stack } = foundation;
  let url = '';
  const requestIds = new RequestIds(identity.boot);
  const app = await buildApp({
    authentication: accounts.authentication,
    ownership: accounts.ownership,
    bodies,
    limits,
    servers: { publicUrl: () => config.publicUrl ?? url, stagingUrl: config.stagingUrl },
    logger,
    logsRequests: overrides.logger !== undefined || config.logLevel === 'debug',
    requestIds,
    isShuttingDown: () => life.isDraining,
    metrics,
    tracing,
    forwardedFor: new ForwardedForWarning(config.trustedProxies, logger),
    audit: auditRequests(config.trustedProxies, (source) => auditFor(source, foundation.earlierNodes)),
  });
  const openRequests = new OpenRequests(app.server);
  stack.defer(() => app.close());
  // Stops before the app closes the connections: a shutdown is not a disconnect of the caller.
  stack.use(runs.disconnects);
  // The API description lists the operations in this order.
  const chats = new Chats(foundation.store, accounts.pages, runs.forgetTurns);
  addRunRoutes(app, foundation, accounts, { ...runs, chats });
  addFileRoutes(app, foundation, accounts);
  const { fetchAllow } = config;
  chatRoutes(app, { chats, blobs: runs.attachments.blobs, fetchAllow });
  scheduleRoutes(app, accounts.schedules);
  addAccountRoutes(app, foundation, accounts, runs);
  auditRoutes(app, new AuditLog(foundation.store.reads, accounts.pages), accounts.turns);
  webhookRoutes(app, accounts.webhooks);
  addServiceRoutes(app, foundation, runs, figures);
  addConsoleRoutes(app, foundation, accounts);
  return {
    openRequests,
    /** Resolves to the addresses when both listeners accept requests. */
    async listen() {
      const { host, port } = config;
      const metricsListener =
        config.metrics === null
          ? null
          : stack.use(await MetricsListener.start({ ...config.metrics, metrics: figures.metricsText, requestIds }));
      await app.listen({ host, port, backlog: 4096 });
      url = listeningUrl(app.server);
      return { url, address: listeningAddress(app.server), metricsUrl: metricsListener?.url ?? null };
    },
  };
}

function addRunRoutes(
  app: App,
  { store, config, limits, metrics, agencies, logger }: Foundation,
  { pages, turns, reads, changes }: OpenedAccounts,
  {
    admission,
    runReads,
    eventLog,
    streams,
    cancel,
    attachments,
    prompt,
    chats,
    mcp,
  }: OpenedRuns & { readonly chats: Chats },
): void {
  const encoder = new DefaultFraming();
  const { fetchAllow } = config;
  const streamLimits = new StreamLimits(limits);
  const starts = new RunStarts({ admission, eventLog, streams, streamLimits, metrics, logger });
  getCompletion(app, { starts, runReads, encoder, limits, fetchAllow });
  runEvents(app, { runReads, eventLog, streams, streamLimits, encoder });
  const steps = runSteps.bind(null, { reads: store.reads, runReads, pages });
  runRoutes(app, { runReads, cancel, steps, prompt });
  runAttachmentRoutes(app, {
    find: findRunAttachment.bind(null, { reads: store.reads, runReads }),
    blobs: attachments.blobs,
  });
  const comparing = { reads: store.reads, runReads, limits };
  const original = { reads: store.reads, agencies };
  rerunRoutes(app, {
    ...{ starts, runReads, encoder, limits },
    readRerun: (given) => readRerun(original, given),
    compare: (scope, runIds) => compareRuns(comparing, scope, runIds),
  });
  evalRoutes(app, {
    ...{ starts, runReads, encoder, limits, fetchAllow },
    readEval: (request, run) => readEval(original, request, run),
  });
  questionRoutes(app, { questions: new Questions(store.reads, pages), starts, runReads, limits, fetchAllow });
  usageRoutes(app, { runReads, turns });
  const mcpStates = mcp.states.bind(mcp);
  overviewRoutes(app, { runReads, turns, agencies, mcpStates });
  compatibleApis({
    app,
    settings: new SettingsByIntegration(reads, changes),
    starts: new CompatibleStarts(starts, cancel, limits),
    agencies,
    runReads,
    steps,
    chats,
    blobs: attachments.blobs,
    cancel,
    eventLog,
    streams,
    streamLimits,
    fetchAllow,
    publicUrl: config.publicUrl,
    continued: (runId) => continuedRuns(store.reads, runId),
  });
}

function addFileRoutes(app: App, foundation: Foundation, { reads }: OpenedAccounts): void {
  const { store, ids, files, uploads, settleUploads, secret, config, limits, overrides, logger } = foundation;
  const { publicUrl } = config;
  receiveUpload(app, {
    files,
    secrets: new UploadSecrets(store, secret),
    findIntegration: async (integrationId) =>
      (await first(reads.all(integrationById, { integrationId })))?.integration_id ?? null,
    checkForm: overrides.checkForm ?? checkForm,
    publicUrl,
    limits,
    waitAt: overrides.waitAt,
    logger,
  });
  const quotas = { mountBytes: limits.mountQuotaBytes, memberBytes: limits.memberQuotaBytes };
  const signing = new UploadSigning({ store, ids, target: uploads, settleUploads, quotas });
  createAgencyUpload(app, { signing, publicUrl });
  fileRoutes(app, files);
}

function addAccountRoutes(
  app: App,
  { store, agencies, limits, config, secrets, outbox, earlierNodes }: Foundation,
  { changes, signing, clientSigning, reads, pages, erasures }: OpenedAccounts & { readonly erasures: Erasures },
  { forgetIntegration }: OpenedRuns,
): void {
  const { prices } = config;
  const defaultRunSeconds = limits.maxRunSeconds;
  accountRoutes(app, {
    integrations: new Integrations({ store, changes, agencies, defaultRunSeconds, prices, forgetIntegration }),
    members: new Members(store, pages),
    erasures,
    adjustments: new Adjustments(store, outbox),
    clientTokens: new ClientTokens(reads, clientSigning),
    keys: new Keys({ store, changes, signing, hasOpaqueKey: secrets.apiKeyHash !== null, earlierNodes }),
    owners: new Owners(store, changes, signing),
    people: new People(store, changes, earlierNodes),
    publicUrl: config.publicUrl,
  });
}

function addConsoleRoutes(
  app: App,
  { store, config, uploads, overrides }: Foundation,
  { reads, changes, consoleSigning }: OpenedAccounts,
): void {
  const { publicUrl, trustedProxies } = config;
  const sessions = new Sessions(store, reads, changes, consoleSigning);
  const signIn = new SignIn({ store, reads, changes, sessions, hashCost: overrides.hashCost });
  consoleSignIn(app, { signIn, sessions, publicUrl, trustedProxies });
  consolePages(app, {
    folder: overrides.consoleFolder ?? builtConsole(),
    uploadOrigin: uploads.isS3 ? new URL(uploads.url('', '')).origin : null,
  });
}

function addServiceRoutes(app: App, foundation: Foundation, { mcp, defineAgency }: OpenedRuns, figures: Figures): void {
  const { store, agencies, sandbox, life, isAlone, config } = foundation;
  const writeProbe = new WriteProbe(store, READY_GOOD_FOR_MS, READY_PATIENCE_MS);
  serviceRoutes(app, {
    agencies,
    defineAgency,
    mcpStates: (agency) => mcp.states(agency),
    findRun: (runId) => first(store.reads.all(ownerOfRun, { runId })),
    isReady: async () => life.isServing && (await writeProbe.takesWrites()),
    storeKind: store.kind,
    sandbox: sandbox.info,
    metrics: figures.metricsText,
    publicUrl: config.publicUrl,
    nodes: new Nodes({
      store,
      node: life.node,
      isAlone,
      isDraining: () => life.isDraining,
      stats: figures.nodeStats,
    }),
  });
}
