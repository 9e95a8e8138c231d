import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { IdleReader } from '@runwire/test-kit/idle-reader.ts';
import { until } from '@runwire/test-kit/shortfall.ts';
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

test('a slow, steady reader of a large frame is served; a stuck one is cut', async (t) => {
  cites(t, 'contract-5-slow-reader');
  await using server = await ScriptedServer.start({ limits: { slowReaderMs: DRAIN_MS, heartbeatMs: HEARTBEAT_MS } });
  const { probes } = server.server.server;
  const integration = await server.integration();
  const { reader, call, runId } = await server.hold({ apiIntegrationId: integration });
  reader.cut();
  await until('no open stream', () => probes.openStreams() === 0);
  const path = `/v2/integrations/${integration}/runs/${runId}/events`;
  const steady = await IdleReader.open(server.api, path);
  const stuck = await IdleReader.open(server.api, path);
  await call.text('x'.repeat(FRAME_CHARS));
  await until('two full streams', () => probes.fullStreams() === 2);

  const began = performance.now();
  let cutAfterMs = 0;
  while (steady.bytes < FRAME_CHARS && !steady.isOver) {
    steady.read(STEP_BYTES);
    await sleep(STEP_MS);
    if (cutAfterMs === 0 && probes.openStreams() === 1) cutAfterMs = performance.now() - began;
  }
  const took = performance.now() - began;
  assert.ok(took > 1.5 * DRAIN_MS, 'the frame took longer than a reader may take nothing');
  assert.ok(cutAfterMs > 0, 'the stuck one was cut meanwhile');
  steady.read();
  await steady.until(({ tail }) => /x","sequence_number":\d+\}\}\}\n\n/.test(tail));
  assert.equal(steady.isOver, false, 'the steady one goes on');
  assert.equal(probes.openStreams(), 1);
  await call.text('<next>');
  await steady.until(({ tail }) => tail.includes('<next>'));
  assert.equal(steady.isOver, false);

  stuck.read();
  await stuck.until(() => false);
  assert.ok(stuck.bytes < FRAME_CHARS, 'it has what the kernel held, and no more');
});
