import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { imageAttachment, makePng, startTestServer, TEST_API_KEY, temporaryFolder } from '@runwire/test-kit';

const MEBIBYTE = 1024 * 1024;
const RUNS = 8;
/** Less than one body, which is 9.3 MiB. Code that is compiled during the test takes one or two. */
const ALLOWED_MIB = 8;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Returns how much memory the process uses for buffers and strings. */
function heldMib(): number {
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / MEBIBYTE;
}

/** Waits until the start's memory is released: a later release would hide what the bodies use. */
async function settledMib(): Promise<number> {
  let last = heldMib();
  for (let same = 0; same < 3; ) {
    await sleep(100);
    const now = heldMib();
    same = Math.abs(now - last) < 0.1 ? same + 1 : 0;
    last = now;
  }
  return last;
}

test('a run under way holds nothing of the body that began it', async (t) => {
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  let asked = 0;
  const call = (_: unknown, __: unknown, signal: AbortSignal) => {
    asked += 1;
    return new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  await using server = await startTestServer({ model: { id: 'silent/model', call } });
  const file = join(folder, 'body.json');
  const attachments = [imageAttachment(makePng(4 * MEBIBYTE, 7))];
  writeFileSync(
    file,
    JSON.stringify({ apiIntegrationId: 'demo', message: 'Look', more: 'x'.repeat(4 * MEBIBYTE), attachments }),
  );
  const before = await settledMib();
  const clients: ChildProcess[] = [];
  t.after(() => {
    for (const client of clients) client.kill();
  });
  // The clients run in separate processes, because their memory must not count.
  const begin = async (runs: number) => {
    while (clients.length < runs) {
      clients.push(
        spawn('curl', [
          ...['-sN', '-o', '/dev/null', '-H', `authorization: Bearer ${TEST_API_KEY}`],
          ...['-H', 'content-type: application/json', '--data-binary', `@${file}`, `${server.url}/get_completion_v2`],
        ]),
      );
    }
    for (const end = performance.now() + 60_000; asked < runs && performance.now() < end; ) await sleep(50);
    assert.equal(asked, runs);
    assert.equal(server.server.probes.openStreams(), runs);
    let grown = heldMib() - before;
    for (const end = performance.now() + 30_000; grown > ALLOWED_MIB && performance.now() < end; ) {
      await sleep(200);
      grown = heldMib() - before;
    }
    assert.ok(grown <= ALLOWED_MIB, `${grown.toFixed(1)} MiB are still held of ${runs} bodies`);
  };
  // A single body: no later request causes its release.
  await begin(1);
  await begin(RUNS);
});
