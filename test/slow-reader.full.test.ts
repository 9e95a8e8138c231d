import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cites } from '../requirements/cite.ts';
import { ScriptedServer } from './support/scripted-server.ts';

const HEARTBEAT_MS = 1000;
/** The time without progress after which a reader is cut. The server checks ten times per heartbeat. */
const DRAIN_MS = 10_000;
/** One frame that is much larger than the kernel's buffers. */
const FRAME_CHARS = 20_000_000;
/**
 * The bytes that a reader takes at a time. The kernel accepts more after each, and twelve of them fit into the time
 * limit.
 */
const STEP_BYTES = 1_000_000;
const STEP_MS = DRAIN_MS / 12;

/** The bytes of a stream, which are read only on request. */
class StepReader {
  readonly #socket: Socket;
  #bytes = 0;
  #tail = '';
  #wanted = 0;
  readonly over: Promise<void>;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', () => {});
    this.over = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.pause();
    socket.on('data', (chunk: Buffer) => {
      this.#bytes += chunk.length;
      this.#tail = (this.#tail + chunk.toString('latin1')).slice(-200);
      if (this.#bytes >= this.#wanted) socket.pause();
    });
  }

  static async events(server: ScriptedServer, integration: string, runId: string): Promise<StepReader> {
    const { port } = new URL(server.api.url);
    const socket = connect(Number(port), '127.0.0.1');
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
    const path = `/v2/integrations/${integration}/runs/${runId}/events`;
    const headers = `host: x\r\nauthorization: ${server.api.authorization.authorization}\r\n`;
    socket.write(`GET ${path} HTTP/1.1\r\n${headers}\r\n`);
    return new StepReader(socket);
  }

  get bytes(): number {
    return this.#bytes;
  }

  get tail(): string {
    return this.#tail;
  }

  get isOver(): boolean {
    return this.#socket.closed;
  }

  take(bytes: number): void {
    this.#wanted = this.#bytes + bytes;
    this.#socket.resume();
  }
}

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(20);
}

test('a slow, steady reader of a large frame is served; a stuck one is cut', async (t) => {
  cites(t, 'contract-5-slow-reader');
  await using server = await ScriptedServer.start({ limits: { slowReaderMs: DRAIN_MS, heartbeatMs: HEARTBEAT_MS } });
  const { probes } = server.server.server;
  const integration = await server.integration();
  const { reader, call, runId } = await server.hold({ apiIntegrationId: integration });
  reader.cut();
  await waitFor(() => probes.openStreams() === 0);
  const steady = await StepReader.events(server, integration, runId);
  const stuck = await StepReader.events(server, integration, runId);
  await waitFor(() => probes.openStreams() === 2);
  await call.text('x'.repeat(FRAME_CHARS));
  await waitFor(() => probes.fullStreams() === 2);

  const began = performance.now();
  let cutAfterMs = 0;
  while (steady.bytes < FRAME_CHARS && !steady.isOver) {
    steady.take(STEP_BYTES);
    await sleep(STEP_MS);
    if (cutAfterMs === 0 && probes.openStreams() === 1) cutAfterMs = performance.now() - began;
  }
  const took = performance.now() - began;
  assert.ok(took > 1.5 * DRAIN_MS, 'the frame took longer than a reader may take nothing');
  assert.ok(cutAfterMs > 0, 'the stuck one was cut meanwhile');
  steady.take(Number.MAX_SAFE_INTEGER);
  await waitFor(() => steady.isOver || /x","sequence_number":\d+\}\}\}\n\n/.test(steady.tail));
  assert.equal(steady.isOver, false, 'the steady one goes on');
  assert.equal(probes.openStreams(), 1);
  await call.text('<next>');
  await waitFor(() => steady.isOver || steady.tail.includes('<next>'));
  assert.equal(steady.isOver, false);

  stuck.take(Number.MAX_SAFE_INTEGER);
  await stuck.over;
  assert.ok(stuck.bytes < FRAME_CHARS, 'it has what the kernel held, and no more');
});
