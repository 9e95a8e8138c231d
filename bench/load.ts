import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, type Lags } from './connection.ts';
import { orderText } from './model.ts';
import { ASK_MEMORY, type LoadOrder, median, memberId, type Phase, type PhaseResult, toolsOf } from './phases.ts';
import { cpuMs, machineCpuMs } from './proc.ts';
import type { Memory } from './server-process.ts';

/*
 * The load generator, a separate process. It keeps raw sockets open and sends the next request when the previous answer
 * is complete. It measures the CPU of the server, and reports its own CPU separately, so that a busy generator is
 * noticed.
 */

/** Work of the server after the last answer, such as a checkpoint, is part of the result. */
const AFTERWORK_MS = 300;
/** The pause between two opened streams. Without it, the phase would measure the opening. */
const OPENING_MS = 2;
const MAX_PACED_MS = 60_000;

const order = JSON.parse(process.argv[2] ?? '') as LoadOrder;
const bootId = `${process.pid}-${Date.now().toString(36)}`;
let requests = 0;

const portOf = (connection: number) => order.servers[connection % order.servers.length]?.port ?? 0;
const serversCpuMs = () => order.servers.reduce((sum, { pid }) => sum + cpuMs(pid), 0);

function requestText(phase: Phase, connection: number): string {
  requests += 1;
  const body = JSON.stringify({
    apiIntegrationId: (phase.calls ?? 0) > 0 ? toolsOf(order.integrationId) : order.integrationId,
    message: orderText(phase),
    consumerId: memberId(connection % order.members),
    usageRequestId: `${bootId}-${requests}`,
  });
  const authorization = order.apiKey === null ? '' : `authorization: Bearer ${order.apiKey}\r\n`;
  return (
    `POST ${order.path} HTTP/1.1\r\nhost: 127.0.0.1:${portOf(connection)}\r\n${authorization}` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  );
}

/** Measures CPU time since its creation. */
class Meter {
  readonly #server = serversCpuMs();
  readonly #machine = machineCpuMs();
  readonly #own = process.cpuUsage();
  readonly #start = performance.now();

  read() {
    const own = process.cpuUsage(this.#own);
    const ownMs = (own.user + own.system) / 1000;
    const serverMs = serversCpuMs() - this.#server;
    const othersMs = Math.max(0, machineCpuMs() - this.#machine - serverMs - ownMs);
    const elapsedMs = performance.now() - this.#start;
    const load = {
      serverLoad: serverMs / elapsedMs,
      generatorLoad: ownMs / elapsedMs,
      othersLoad: othersMs / elapsedMs,
    };
    return { elapsedMs, serverMs, load };
  }
}

/** Values that a phase does not measure are 0. */
const NOTHING = {
  ...{ runsPerSecond: 0, cpuMsPerRun: 0, cpuMicrosPerToken: 0, cpuMsPerStep: 0, firstTokenMs: 0, slowestMs: 0 },
  ...{ eventsPerSecond: 0, lagMedianMs: 0, lagP99Ms: 0, idleHeldKb: 0 },
  ...{ allocatedKb: 0, statements: 0, writeCalls: 0, writtenKb: 0 },
};

async function answers(phase: Phase): Promise<PhaseResult> {
  const connections = Array.from({ length: phase.atOnce }, (_, i) => new Connection(portOf(i), null));
  const firstTokens: number[] = [];
  let slowestMs = 0;
  const meter = new Meter();
  const start = performance.now();
  const until = start + phase.seconds * 1000;
  let started = 0;
  const isDue = (now: number) => (phase.runs === undefined ? now < until : started < phase.runs);
  await Promise.all(
    connections.map(async (connection, index) => {
      for (let sentAt = start; isDue(sentAt); ) {
        started += 1;
        firstTokens.push(await connection.ask(requestText(phase, index), phase, null));
        const endedAt = performance.now();
        slowestMs = Math.max(slowestMs, endedAt - sentAt);
        sentAt = endedAt;
      }
    }),
  );
  const elapsedMs = performance.now() - start;
  await sleep(AFTERWORK_MS);
  const { serverMs, load } = meter.read();
  for (const connection of connections) connection.close();
  const runs = firstTokens.length;
  return {
    ...NOTHING,
    ...{ name: phase.name, runs, runsPerSecond: (runs / elapsedMs) * 1000 },
    ...{ cpuMsPerRun: serverMs / runs, cpuMicrosPerToken: (serverMs * 1000) / (runs * phase.tokens) },
    ...{ cpuMsPerStep: serverMs / (runs * ((phase.calls ?? 0) + 1)) },
    ...{ firstTokenMs: median(firstTokens), slowestMs, ...load },
  };
}

class TooShort extends Error {}

/** Opens all streams of a phase and resolves when each has sent something. */
async function openStreams(phase: Phase, lags: Lags | null) {
  const connections = Array.from({ length: phase.atOnce }, (_, i) => new Connection(portOf(i), lags));
  const allBegan = Promise.withResolvers<void>();
  allBegan.promise.catch(() => {});
  let begun = 0;
  const began = () => {
    begun += 1;
    if (begun === connections.length) allBegan.resolve();
  };
  const ended: Promise<number>[] = [];
  for (const [index, connection] of connections.entries()) {
    const answer = connection.ask(requestText(phase, index), phase, began);
    const tooEarly = () => begun < connections.length && allBegan.reject(new TooShort('A stream ended too early.'));
    answer.then(tooEarly, allBegan.reject);
    ended.push(answer);
    await sleep(OPENING_MS);
  }
  await allBegan.promise.catch(async (error) => {
    if (error instanceof TooShort) await Promise.all(ended);
    for (const connection of connections) connection.close();
    throw error;
  });
  return { connections, ended };
}

/** On a slow machine the first stream may end before the last one is open. Then all streams are made longer. */
async function paced(phase: Phase): Promise<PhaseResult> {
  try {
    return await pacedStreams(phase);
  } catch (error) {
    if (!(error instanceof TooShort) || phase.tokens * phase.everyMs > MAX_PACED_MS) throw error;
    return await paced({ ...phase, tokens: phase.tokens * 2 });
  }
}

/** Measured from the start of the last stream until the first stream ends. */
async function pacedStreams(phase: Phase): Promise<PhaseResult> {
  const lags: Lags = { open: false, micros: [] };
  const { connections, ended } = await openStreams(phase, lags);
  const meter = new Meter();
  lags.open = true;
  await Promise.race(ended);
  lags.open = false;
  const { elapsedMs, serverMs, load } = meter.read();
  const firstTokens = await Promise.all(ended);
  for (const connection of connections) connection.close();
  const sorted = lags.micros.sort((a, b) => a - b);
  const lag = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0) / 1000;
  return {
    ...NOTHING,
    ...{ name: phase.name, runs: ended.length, firstTokenMs: median(firstTokens), ...load },
    cpuMicrosPerToken: (serverMs * 1000) / sorted.length,
    eventsPerSecond: (sorted.length / elapsedMs) * 1000,
    ...{ lagMedianMs: lag(0.5), lagP99Ms: lag(0.99) },
  };
}

/** The streams stay open. The caller of this phase ends the server. */
async function idle(phase: Phase): Promise<PhaseResult> {
  const before = await serverMemory();
  const meter = new Meter();
  const { connections } = await openStreams(phase, null);
  const after = await serverMemory();
  const { load } = meter.read();
  for (const connection of connections) connection.close();
  return {
    ...{ ...NOTHING, name: phase.name, runs: phase.atOnce, ...load },
    idleHeldKb: (after.heldBytes - before.heldBytes) / phase.atOnce / 1024,
  };
}

async function serverMemory(): Promise<Memory> {
  // Waits until earlier work is finished and its sockets are closed.
  await sleep(AFTERWORK_MS);
  const answer = once(process, 'message') as Promise<[Memory]>;
  process.send?.(ASK_MEMORY);
  return (await answer)[0];
}

const kinds = { answers, paced, idle };
for (const phase of order.phases) process.send?.(await kinds[phase.kind](phase));
process.disconnect?.();
