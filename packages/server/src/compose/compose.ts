import { OFFLINE_MODEL } from '@runwire/models';
import { firstKey } from '../accounts/first-start.ts';
import { firstSetUpLink, setUpUrl } from '../accounts/set-up-links.ts';
import type { Config, Secrets } from '../config/config.ts';
import { VERSION } from '../domain/version.ts';
import { drain } from '../engine/drain.ts';
import { BodyReader } from '../http/body/body-reader.ts';
import { IndexLoop } from '../search/index-loop.ts';
import { openFoundation } from './foundation.ts';
import { openAccounts } from './open-accounts.ts';
import { openErasure } from './open-erasure.ts';
import { openHttp } from './open-http.ts';
import { openRuns } from './open-runs.ts';
import { openSchedules } from './open-schedules.ts';
import { openSweeps } from './open-sweeps.ts';
import { openWebhooks } from './open-webhooks.ts';
import type { Overrides } from './overrides.ts';
import type { RunningServer } from './running-server.ts';

/** Wires the server and starts it. Tests replace parts by `overrides`. */
export async function compose(
  config: Config,
  secrets: Secrets,
  onFatal: (error: unknown) => void,
  overrides: Overrides = {},
): Promise<RunningServer> {
  await using stack = new AsyncDisposableStack();
  const foundation = await openFoundation(config, secrets, onFatal, overrides, stack);
  const { store, life, limits, metrics, isAlone } = foundation;
  const accounts = await openAccounts(foundation);
  const sweeps = openSweeps(foundation);
  const webhooks = await openWebhooks(foundation, accounts);
  const runs = await openRuns(foundation, accounts, webhooks.outbox);
  const { engine, streams, eventLog, admission } = runs;

  const erasure = openErasure(foundation, runs);
  const index = stack.use(new IndexLoop({ store, periodMs: limits.searchMs, logger: foundation.logger }));
  const schedules = openSchedules(foundation, accounts, runs, webhooks);
  const { newBudget } = accounts;
  const bodies = stack.use(new BodyReader(limits, { bytes: newBudget(limits.bodiesBytes), parsing: newBudget(1) }));
  const probes = {
    version: VERSION,
    activeRuns: () => engine.activeRuns,
    openStreams: () => streams.size,
    fullStreams: () => streams.full,
    writerQueue: () => foundation.queueLength(),
    unstoredBytes: () => eventLog.unstoredBytes,
    heldBodyBytes: () => bodies.heldBytes,
    attachmentsBytes: () => runs.attachments.budget.held,
    beatAgeMs: () => life.beatAgeMs,
    mcpServers: () => runs.mcp.allStates(),
    syncMs: foundation.commitMs,
    webhookDueMs: () => webhooks.deliveries.dueAgeMs,
    droppedSpans: () => foundation.tracing?.dropped ?? 0,
    sweepEvents: () => sweeps.events.sweep(),
    sweepBlobs: () => sweeps.blobs.sweep(),
    sweepFiles: () => sweeps.files.sweep(),
    sweepNodes: () => sweeps.nodes.sweep(),
    sweepRollups: () => {
      // Otherwise its turn at the start could come later, while a test looks at what is not counted.
      void sweeps.rollups.start();
      return sweeps.rollups.sweep();
    },
    sweepAudit: () => sweeps.audit.sweep(),
    sweepSignIns: () => sweeps.signIns.sweep(),
    sweepWebhooks: () => sweeps.webhooks.sweep(),
    sweepTransients: () => sweeps.transients.sweep(),
    sweepDefinitions: () => runs.definitions.sweep(),
    sweepTicks: () => schedules.sweep.sweep(),
    lookAtSchedules: () => schedules.loop.look(),
  };
  const nodeStats = () => ({
    openStreams: probes.openStreams(),
    admissions: metrics.admissionTotals,
    eventLagMs: metrics.recentEventLagMs,
    writerQueue: probes.writerQueue(),
  });
  life.showStats(nodeStats);
  const { openRequests, listen } = await openHttp(
    foundation,
    { ...accounts, erasures: erasure.erasures, schedules: schedules.routes, webhooks: webhooks.endpoints },
    runs,
    bodies,
    { metricsText: () => metrics.text(probes), nodeStats },
  );

  const { url, address, metricsUrl } = await listen();
  runs.continueResumed();
  await life.listensAt(address);
  const apiKey = secrets.apiKeyHash === null ? await firstKey(store, accounts.signing) : null;
  const setUp = await firstSetUpLink(store);
  stack.defer(() => life.stopAdmitting());
  runs.startTakeover();
  erasure.start();
  schedules.start();
  index.start();
  webhooks.deliveries.start();
  webhooks.reportBroken();
  for (const sweep of [...Object.values(sweeps), runs.definitions]) sweep.start();
  const owned = stack.move();
  const own = foundation.agencies.list().filter(({ loaded }) => loaded?.source !== 'bundled');
  return {
    url,
    address,
    metricsUrl,
    apiKey,
    setupLink: setUp.secret === null ? null : setUpUrl(config.publicUrl ?? url, setUp.secret),
    awaitsSetUp: setUp.isOpen,
    firstIntegration: foundation.firstIntegration,
    modelLocation: foundation.models.locate(foundation.models.defaultId),
    agencies: own.map(({ id, error }) => ({ id, problem: error?.message ?? null })),
    usesOfflineModel:
      own.length === 0 || own.some(({ id }) => foundation.agencies.models(id, null).includes(OFFLINE_MODEL)),
    mcpProblems: runs.mcp.firstProblems(),
    sandbox: foundation.sandbox,
    resumedRuns: runs.resumedRuns,
    endedRuns: runs.endedRuns,
    probes,
    drain() {
      life.drain();
      return drain({ engine, admitting: () => admission.underWay, openRequests, limits, isAlone });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
