import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkAnswer, TOKEN_MARK } from './answer-check.ts';
import { orderText } from './model.ts';
import { type LoadOrder, median, memberId, type Phase, type PhaseResult } from './phases.ts';
import { cpuMs, machineCpuMs } from './proc.ts';

/*
 * The load generator, a process of its own: raw sockets kept open, the next request as soon as the answer before it
 * is whole. It reads into fixed buffers and unpacks an answer once, at its end. The CPU it reads is the server's;
 * its own is told beside it, so that nobody measures the generator instead.
 */

const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');
const OK = Buffer.from('HTTP/1.1 200 ');
/** What the server still does after the last answer (a checkpoint, say) belongs to it. */
const AFTERWORK_MS = 300;

const order = JSON.parse(process.argv[2] ?? '') as LoadOrder;
const bootId = `${process.pid}-${Date.now().toString(36)}`;
let requests = 0;

function requestBytes(phase: Phase, connection: number): string {
  requests += 1;
  const body = JSON.stringify({
    apiIntegrationId: order.integrationId,
    message: orderText(phase),
    consumerId: memberId(connection % order.members),
    usageRequestId: `${bootId}-${requests}`,
  });
  const authorization = order.apiKey === null ? '' : `authorization: Bearer ${order.apiKey}\r\n`;
  return (
    `POST ${order.path} HTTP/1.1\r\nhost: 127.0.0.1:${order.port}\r\n${authorization}` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  );
}

class Connection {
  readonly #index: number;
  readonly #socket: Socket;
  #bytes = Buffer.allocUnsafe(1 << 20);
  #length = 0;
  #tokens = 0;
  #sentAt = 0;
  #firstTokenMs: number | null = null;
  #done: ((firstTokenMs: number) => void) | null = null;
  #failed: ((error: Error) => void) | null = null;

  constructor(index: number) {
    this.#index = index;
    this.#socket = connect({
      host: '127.0.0.1',
      port: order.port,
      noDelay: true,
      onread: { buffer: Buffer.allocUnsafe(1 << 16), callback: (count, bytes) => this.#read(count, bytes as Buffer) },
    });
    this.#socket.on('error', (error) => this.#failed?.(error));
    this.#socket.on('close', () =>
      this.#failed?.(new Error('The server closed a connection before its answer ended.')),
    );
  }

  /** Resolves to the milliseconds until the first token, once the answer is whole and checked. */
  ask(phase: Phase): Promise<number> {
    this.#length = 0;
    this.#tokens = phase.tokens;
    this.#firstTokenMs = null;
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#failed = reject;
      const bytes = requestBytes(phase, this.#index);
      this.#sentAt = performance.now();
      this.#socket.write(bytes, 'latin1');
    });
  }

  close(): void {
    this.#failed = null;
    this.#socket.destroy();
  }

  #read(count: number, bytes: Buffer): boolean {
    if (this.#length + count > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], this.#bytes.length * 2);
    bytes.copy(this.#bytes, this.#length, 0, count);
    this.#length += count;
    const answer = this.#bytes.subarray(0, this.#length);
    try {
      if (answer.length >= OK.length && answer.compare(OK, 0, OK.length, 0, OK.length) !== 0) {
        throw new Error(`The server refused: ${answer.toString('utf8', 0, 800)}`);
      }
      if (this.#firstTokenMs === null && answer.includes(TOKEN_MARK)) {
        this.#firstTokenMs = performance.now() - this.#sentAt;
      }
      // An answer's own bytes cannot hold this: its JSON has no CR, and no chunk is empty but the last.
      const end = answer.length - LAST_CHUNK.length;
      if (end > 0 && answer.compare(LAST_CHUNK, 0, LAST_CHUNK.length, end) === 0) {
        checkAnswer(answer, this.#tokens);
        this.#done?.(this.#firstTokenMs ?? 0);
      }
    } catch (error) {
      this.#failed?.(error as Error);
    }
    return true;
  }
}

async function measure(phase: Phase): Promise<PhaseResult> {
  const connections = Array.from({ length: phase.atOnce }, (_, index) => new Connection(index));
  const firstTokens: number[] = [];
  let slowestMs = 0;
  const cpuBefore = cpuMs(order.pid);
  const machineBefore = machineCpuMs();
  const ownBefore = process.cpuUsage();
  const start = performance.now();
  const until = start + phase.seconds * 1000;
  await Promise.all(
    connections.map(async (connection) => {
      for (let sentAt = start; sentAt < until; ) {
        firstTokens.push(await connection.ask(phase));
        const endedAt = performance.now();
        slowestMs = Math.max(slowestMs, endedAt - sentAt);
        sentAt = endedAt;
      }
    }),
  );
  const elapsedMs = performance.now() - start;
  const own = process.cpuUsage(ownBefore);
  const ownMs = (own.user + own.system) / 1000;
  await sleep(AFTERWORK_MS);
  const cpu = cpuMs(order.pid) - cpuBefore;
  const machine = machineCpuMs() - machineBefore;
  for (const connection of connections) connection.close();
  const runs = firstTokens.length;
  return {
    name: phase.name,
    runs,
    runsPerSecond: (runs / elapsedMs) * 1000,
    cpuMsPerRun: cpu / runs,
    cpuMicrosPerToken: (cpu * 1000) / (runs * phase.tokens),
    firstTokenMs: median(firstTokens),
    slowestMs,
    serverLoad: cpu / elapsedMs,
    generatorLoad: ownMs / elapsedMs,
    othersLoad: Math.max(0, machine - cpu - ownMs) / (elapsedMs + AFTERWORK_MS),
  };
}

for (const phase of order.phases) process.send?.(await measure(phase));
process.disconnect?.();
