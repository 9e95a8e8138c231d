import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from './connection.ts';
import { orderText } from './model.ts';
import {
  ASK_MEMORY,
  integrationFor,
  type LoadOrder,
  median,
  memberId,
  type Phase,
  type PhaseResult,
} from './phases.ts';
import { cpuMs, machineCpuMs } from './proc.ts';
import type { Memory } from './server-process.ts';

/*
 * The load generator, a separate process. It keeps raw sockets open and sends the next request when the previous answer
 * is complete. It measures the CPU of the server, and reports its own CPU separately, so that a busy generator is
 * noticed.
 */

/** Work of the server after the last answer, such as a checkpoint, is part of the result. */
const AFTERWORK_MS = 300;
const TURNS = 50;
const COMPARED_TURNS = 5;

const order = JSON.parse(process.argv[2] ?? '') as LoadOrder;
const bootId = `${process.pid}-${Date.now().toString(36)}`;
let requests = 0;

const getPort = (connection: number) => order.servers[connection % order.servers.length]?.port ?? 0;
const serversCpuMs = () => order.servers.reduce((sum, { pid }) => sum + cpuMs(pid), 0);

function requestText(phase: Phase, connection: number, chatId?: string): string {
  requests += 1;
  const integration = integrationFor(order.integrationId, phase.agency);
  const message = orderText(phase);
  const consumerId = memberId(connection % order.members);
  const usageRequestId = `${bootId}-${requests}`;
  const isOwn = phase.framing === undefined;
  const path = isOwn ? order.path : `/v2/integrations/${integration}/openai/v1/responses`;
  const body = JSON.stringify(
    isOwn
      ? { apiIntegrationId: integration, message, consumerId, usageRequestId, chatId }
      : { input: message, stream: true, safety_identifier: consumerId },
  );
  const key = isOwn ? '' : `idempotency-key: ${usageRequestId}\r\n`;
  const authorization = order.apiKey === null ? '' : `authorization: Bearer ${order.apiKey}\r\n`;
  return (
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${getPort(connection)}\r\n${authorization}${key}` +
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
  ...{ turnGrowth: 0, eventsPerSecond: 0, lagMedianMs: 0, lagP99Ms: 0, idleHeldKb: 0 },
  ...{ allocatedKb: 0, statements: 0, writeCalls: 0, writtenKb: 0 },
};

async function answers(phase: Phase): Promise<PhaseResult> {
  const connections = Array.from({ length: phase.atOnce }, (_, i) => new Connection(getPort(i), null));
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

/** Measures all streams, from their common start to their end. */
async function paced(phase: Phase): Promise<PhaseResult> {
  const lags: number[] = [];
  const connections = Array.from({ length: phase.atOnce }, (_, i) => new Connection(getPort(i), lags));
  await Promise.all(connections.map((connection) => connection.opened()));
  const meter = new Meter();
  const asked = connections.map((connection, index) => connection.ask(requestText(phase, index), phase, null));
  const firstTokens = await Promise.all(asked);
  const { elapsedMs, serverMs, load } = meter.read();
  for (const connection of connections) connection.close();
  const sorted = lags.sort((a, b) => a - b);
  const lag = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0) / 1000;
  return {
    ...NOTHING,
    ...{ name: phase.name, runs: asked.length, firstTokenMs: median(firstTokens), ...load },
    cpuMicrosPerToken: (serverMs * 1000) / sorted.length,
    eventsPerSecond: (sorted.length / elapsedMs) * 1000,
    ...{ lagMedianMs: lag(0.5), lagP99Ms: lag(0.99) },
  };
}

/** Chats that continue on their connections, all at the same turn. */
class Chats {
  readonly #phase: Phase;
  readonly #connections: readonly Connection[];

  constructor(phase: Phase) {
    this.#phase = phase;
    this.#connections = Array.from({ length: phase.atOnce }, (_, i) => new Connection(getPort(i), null));
  }

  /** Returns the CPU of the server. */
  async take(turns: number): Promise<number> {
    const meter = new Meter();
    for (let turn = 0; turn < turns; turn += 1) {
      const asked = this.#connections.map((connection, index) =>
        connection.ask(requestText(this.#phase, index, connection.chatId), this.#phase, null),
      );
      await Promise.all(asked);
    }
    return meter.read().serverMs;
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}

/** Compares early turns with late ones of other chats, one after the other, so that both see the same warm server. */
async function turns(phase: Phase): Promise<PhaseResult> {
  const meter = new Meter();
  const late = new Chats(phase);
  await late.take(TURNS - COMPARED_TURNS);
  const early = new Chats(phase);
  const earlyMs = await early.take(COMPARED_TURNS);
  const lateMs = await late.take(COMPARED_TURNS);
  const runs = phase.atOnce * (TURNS + COMPARED_TURNS);
  const { load } = meter.read();
  for (const chats of [early, late]) chats.close();
  return { ...NOTHING, name: phase.name, runs, turnGrowth: lateMs / earlyMs, ...load };
}

/** The streams stay open. The caller of this phase ends the server. */
async function idle(phase: Phase): Promise<PhaseResult> {
  const before = await serverMemory();
  const meter = new Meter();
  const connections = Array.from({ length: phase.atOnce }, (_, i) => new Connection(getPort(i), null));
  await Promise.all(
    connections.map(async (connection, index) => {
      const { promise: began, resolve } = Promise.withResolvers<void>();
      await Promise.race([began, connection.ask(requestText(phase, index), phase, resolve)]);
    }),
  );
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

const kinds = { answers, paced, turns, idle };
for (const phase of order.phases) process.send?.(await kinds[phase.kind](phase));
process.disconnect?.();
