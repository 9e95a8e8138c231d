import { RevokedStreams } from '../accounts/revoked-streams.ts';
import { RunAdmission } from '../admission/admit-run.ts';
import type { LoadedAgency } from '../agencies/loaded-agency.ts';
import { AttachmentBlobs } from '../attachments/attachment-blobs.ts';
import { healTurn } from '../chats/heal-history.ts';
import { TurnMemory } from '../chats/turn-memory.ts';
import { wholeIntegration } from '../domain/account/scope.ts';
import type { ChatKey, IntegrationId, RunId } from '../domain/ids.ts';
import type { CancelMode } from '../domain/run/run-state.ts';
import { openArgumentCheck } from '../engine/check-arguments.ts';
import { Engine } from '../engine/engine.ts';
import { DefinitionSweep } from '../engine/step-prompt/definition-sweep.ts';
import { shownDefinition } from '../engine/step-prompt/shown-definition.ts';
import { readStepPrompt } from '../engine/step-prompt/step-prompt.ts';
import { takeOverAtStart } from '../engine/takeover/take-over-at-start.ts';
import { TakeoverLoop } from '../engine/takeover/takeover-loop.ts';
import { EventLog } from '../eventlog/event-log.ts';
import { RemoteLogs } from '../eventlog/remote-logs.ts';
import { FileTexts } from '../files/file-texts.ts';
import type { Encoder } from '../http/encoders/encoder.ts';
import { StagedEncoder } from '../http/encoders/staged-encoder.ts';
import { Streams } from '../http/run-stream.ts';
import { McpServers } from '../mcp/mcp-servers.ts';
import { CancelIntents } from '../runs/cancel-intents.ts';
import { cancelRun } from '../runs/cancel-run.ts';
import { DisconnectWatch } from '../runs/disconnect-watch.ts';
import { RunReads } from '../runs/read-runs.ts';
import { RemoteReaders } from '../runs/remote-readers.ts';
import type { EventOutbox } from '../webhooks/event-outbox.ts';
import { DocumentTexts } from '../workspace/document-texts.ts';
import { openAskForeign } from './ask-foreign.ts';
import type { Foundation } from './foundation.ts';
import type { OpenedAccounts } from './open-accounts.ts';
import { openAttachments } from './open-attachments.ts';
import { openWorkspaces } from './open-workspaces.ts';

const STORE_RETRY_MS = 500;

/** Opens what admits, executes, cancels, takes over and reads runs. */
export async function openRuns(foundation: Foundation, accounts: OpenedAccounts, outbox: EventOutbox) {
  const {
    store,
    earlierNodes,
    ids,
    files,
    blobs,
    pending,
    isAlone,
    agencies,
    life,
    limits,
    overrides,
    logger,
    metrics,
    tracing,
    stack,
  } = foundation;
  const { node } = life;
  const { waitAt } = overrides;
  const { prices, fetchAllow } = foundation.config;
  const models = () => foundation.models.find;
  const { newBudget, turns, pages, reads } = accounts;

  const notifier = stack.use(overrides.notifier ?? foundation.notifier());
  const remoteLogs = isAlone ? null : stack.use(new RemoteLogs(store.reads, notifier, logger));
  const onStored = (lagMs: number) => metrics.eventsStored(lagMs);
  const eventLog = stack.use(new EventLog(store, limits, logger, onStored, remoteLogs));
  const windowTokens = limits.modelWindowTokens;
  const { maxAttempts, maxRunSeconds } = limits;
  const takeoverDeps = {
    store,
    eventLog,
    earlierNodes,
    outbox,
    agencies,
    models,
    prices,
    prompt: { windowTokens },
    node,
    maxAttempts,
    maxRunSeconds,
    logger,
    metrics,
  };
  // On the embedded store no other node can resume the runs, so this node resumes them all.
  const maxResumed = isAlone ? Number.POSITIVE_INFINITY : limits.activeRuns;
  const recovered = await takeOverAtStart(takeoverDeps, () => maxResumed);

  const attachmentBlobs = new AttachmentBlobs(store.reads, blobs, pending);
  const runSlots = newBudget(limits.activeRuns);
  const { network } = overrides;
  const attachments = openAttachments(limits, { allow: fetchAllow, blobs: attachmentBlobs, network, newBudget }, stack);
  const { reader, budget, maxBytes } = attachments;
  const texts = new FileTexts(store, blobs, pending);
  const documents = new DocumentTexts({ files, texts, reader, budget, maxBytes, logger });
  const runsHere = (runId: RunId) => eventLog.hot(runId) !== undefined;
  const remoteReaders = isAlone ? null : stack.use(new RemoteReaders(store, node, runsHere, logger));
  await remoteReaders?.forgetGoneNodes();
  const disconnects = new DisconnectWatch(
    limits.disconnectMs,
    (integrationId, runId) => cancelRun(cancel, wholeIntegration(integrationId), runId, 'immediate'),
    logger,
    remoteReaders,
  );
  const mcp = openMcp(foundation);
  const openRunServers = mcp.openRun.bind(mcp);
  const memory = stack.use(new TurnMemory());
  const loops = {
    steps: limits.stepsPerRun,
    depth: limits.delegationDepth,
    handOffs: limits.handOffs,
    toolOutputCharacters: limits.toolOutputCharacters,
  };
  const workspaces = await openWorkspaces(foundation, documents, newBudget(foundation.config.sandbox.slots));
  const prompt = { heal: overrides.healTurn ?? healTurn, memory, windowTokens };
  const engine = stack.use(
    new Engine({
      store,
      eventLog,
      earlierNodes,
      outbox,
      agencies,
      models,
      ...workspaces,
      mcp: openRunServers,
      fileQuotas: { mountBytes: limits.mountQuotaBytes, memberBytes: limits.memberQuotaBytes },
      prices,
      loops,
      prompt,
      attachments,
      runSlots,
      maxRunSeconds,
      modelSilenceMs: limits.modelSilenceMs,
      disconnects,
      retryMs: STORE_RETRY_MS,
      mayCall: (signal) => life.mayCall(signal),
      waitAt,
      logger,
      metrics,
      tracing,
    }),
  );
  const stop = engine.stop.bind(engine);
  const activeRuns = () => engine.activeRuns;
  if (!isAlone) {
    stack.use(new CancelIntents({ reads: store.reads, node, notifier, activeRuns, stop, logger }));
  }
  const listening = Promise.withResolvers<void>();
  stack.defer(() => listening.resolve());
  const holds = () => life.isUncertain;
  const stage = (encoder: Encoder) => (waitAt === undefined ? encoder : new StagedEncoder(encoder, waitAt, holds));
  const streams = stack.use(new Streams({ bounds: limits, turns, readers: disconnects, waitAt, holds, stage }));
  const { accountsVersionMs: everyMs, accountsTrustedMs: trustedMs } = limits;
  stack.use(new RevokedStreams({ streams, reads, everyMs, trustedMs, isCutOff: () => life.isCutOff, logger }));
  life.serve(engine, streams);
  // From here on clients can follow and cancel the resumed runs. A run that was fenced since it was taken is not ours.
  const resumed = recovered.resumed.filter(({ as }) => as === node.identity);
  for (const { run } of resumed) engine.start(run, listening.promise);

  let takeover: TakeoverLoop | null = null;
  const runReads = new RunReads(store, ids, eventLog, pages);
  const commandTools = workspaces.commands?.tools.shown ?? [];
  const definitions = stack.use(new DefinitionSweep({ store, agencies, commandTools, logger }, limits));
  const promptDeps = { store, runReads, agencies, models, commandTools, blobs: attachmentBlobs, prompt, limits: loops };
  const cancel = {
    store,
    runReads,
    signalStop: (runId: RunId, mode: CancelMode) => {
      const isHere = stop(runId, mode);
      // The run waits for its agency. No other node ends it, and no heartbeat looks for orphans.
      if (!isHere && isAlone) takeover?.look();
      return isHere;
    },
    ended: (runId: RunId) => engine.ended(runId),
    elsewhere: isAlone ? null : notifier,
    patienceMs: limits.cancelPatienceMs,
    waitAt,
  };
  const admission = new RunAdmission({
    store,
    earlierNodes,
    ids,
    agencies,
    engine,
    blobs: attachmentBlobs,
    files,
    node,
    prices,
    isShuttingDown: () => life.isDraining,
    runSlots,
    mcpToolNames: (agency) => mcp.toolNames(agency),
    reserveTokens: limits.reserveTokens,
    checkArguments: openArgumentCheck({ store, mcp: openRunServers, commandTools, logger }),
    logger,
  });
  return {
    eventLog,
    engine,
    streams,
    disconnects,
    admission,
    cancel,
    runReads,
    attachments,
    mcp,
    definitions,
    prompt: readStepPrompt.bind(null, promptDeps),
    defineAgency: (loaded: LoadedAgency) => shownDefinition(loaded, commandTools, mcp.tools.bind(mcp)),
    /** Call it when a chat is deleted. */
    forgetTurns: (chatKey: ChatKey) => memory.delete(chatKey),
    /** Call it when an integration is deleted. */
    forgetIntegration: (integrationId: IntegrationId) => memory.deleteIntegration(integrationId),
    resumedRuns: resumed.length,
    endedRuns: recovered.ended,
    /** Lets the resumed runs continue. Until then they wait, so that clients can follow them from the beginning. */
    continueResumed: () => listening.resolve(),
    /** Takes over runs of crashed nodes from now on. */
    startTakeover: () => {
      const room = () => (life.isDraining ? 0 : limits.activeRuns - engine.activeRuns);
      takeover = stack.use(new TakeoverLoop(takeoverDeps, { room, start: (run) => engine.start(run) }));
      if (!isAlone) life.takeOver(takeover);
      // Finds the runs that wait for their agency, to end them at their time limit.
      else takeover.look();
      // Runs of an agency that was broken can be resumed now.
      const { look } = takeover;
      agencies.onReloaded = () => {
        useServers(mcp, foundation);
        definitions.sweepSoon();
        look();
      };
    },
  };
}

/** Connects the MCP servers of the agencies in the background. They are closed after the engine has stopped. */
function openMcp(foundation: Foundation): McpServers {
  const { agencies, secrets, config, overrides, logger, stack } = foundation;
  const askForeign = openAskForeign(config, overrides.network);
  const mcp = stack.use(new McpServers({ variable: secrets.variable, askForeign, logger }));
  useServers(mcp, foundation);
  agencies.onReloaded = () => useServers(mcp, foundation);
  return mcp;
}

function useServers(mcp: McpServers, { agencies }: Foundation): void {
  mcp.use(agencies.list().map(({ id, loaded }) => ({ agency: id, servers: loaded?.mcp ?? [] })));
}

export type OpenedRuns = Awaited<ReturnType<typeof openRuns>>;
