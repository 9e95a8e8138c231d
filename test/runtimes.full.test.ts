import { appendFileSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Rig, TEST_API_KEY } from '@runwire/test-kit';
import { DisturbingRelay } from '@runwire/test-kit/disturbing-relay.ts';
import { count, plantedFault } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectEqual, named, within } from '@runwire/test-kit/shortfall.ts';
import { PackedPackages } from './support/packed.ts';
import { allRuntimes, type Runtime } from './support/runtimes.ts';
import { missingService } from './support/services.ts';
import { download } from './support/uploads.ts';

/*
 * The packed client runs on Node 20 and 26, Bun, Deno and workerd, and with a client token in a page of another origin. Each
 * starts a run, resumes a run whose stream is cut, uploads a file and cancels a run. The server must have the same.
 */

const INTEGRATION = 'runtimes';
const CONSUMER = 'user-42';
const FOLDER = `/app/mnt/members/${CONSUMER}`;
const ANSWER = 'The same answer in every runtime: 日本 🙂.';
/** In the middle of the stream of a run. */
const CUT_AFTER = 2500;
const FILE = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, index) => index % 251));
const LIMIT_MS = 120_000;

function playModel({ model }: Rig): void {
  model.onCall = async (call) => {
    const isEndless = JSON.stringify(call.request.prompt).includes('endless');
    const pieces = isEndless ? Array.from({ length: 6000 }, () => 'more ') : (ANSWER.match(/.{1,4}/gsu) ?? []);
    for (const piece of pieces) {
      if (call.isClosed) return;
      await call.text(piece);
      await sleep(20);
    }
    await call.end();
  };
}

/** What `exercise` returns. */
interface Report {
  readonly error?: string;
  readonly text: string;
  readonly resumed: { readonly text: string; readonly isInOrder: boolean };
  readonly path: string;
  readonly progressBytes: number;
  readonly cancelled: { readonly runId: string; readonly status: string };
}

async function check(rig: Rig, name: string, runtime: Runtime): Promise<void> {
  const { api, url } = rig.server();
  const port = Number(new URL(url).port);
  let cuts = 0;
  await using relay = await DisturbingRelay.start(
    () => port,
    () => ({ kind: 'cut-answer', bytes: CUT_AFTER * 2 ** cuts++ }),
  );
  const minted = await api.post(`${rig.path}/client_tokens`, {
    consumerId: CONSUMER,
    can: ['run', 'read', 'upload'],
  });
  const apiKey = name === 'chromium' ? minted.body.clientToken : TEST_API_KEY;
  const task = { url, cutUrl: relay.url, apiKey, integration: INTEGRATION, folder: FOLDER, name };
  const report = JSON.parse(await within('the report', LIMIT_MS, runtime(task))) as Report;
  expectEqual('error', report.error, undefined);
  expectEqual('text of the run', report.text, ANSWER);
  expectEqual('resumed run', report.resumed, { text: ANSWER, isInOrder: true });
  expectAtLeast('cuts', relay.done.length, 1);
  expectEqual('path of the file', report.path, `${FOLDER}/${name}.bin`);
  expectEqual('progress of the upload', report.progressBytes, FILE.length);
  const bytes = await (await download(api, report.path, INTEGRATION)).bytes();
  expectEqual('uploaded bytes are the same', FILE.equals(bytes), true);
  const { runId, status } = report.cancelled;
  const stored = await api.get(`${rig.path}/runs/${runId}`);
  expectEqual('cancelled run', [status, stored.body.status], ['cancelled', 'cancelled']);
}

test('the client works in every runtime', async (t) => {
  const fault = plantedFault();
  const missing = await missingService('chromium');
  if (missing !== null) return t.skip(missing);
  using packed = await PackedPackages.make((name, dist) => {
    if (fault === 'needs-node' && name === 'client') appendFileSync(join(dist, 'index.js'), "import 'node:fs';\n");
  });
  const project = await packed.project('runtimes', ['client']);
  cpSync(join(import.meta.dirname, 'support/runtimes-client.js'), join(project, 'client.js'));
  await using rig = await Rig.start();
  await rig.prepare({ apiIntegrationId: INTEGRATION, agency: 'test', defaultAgent: 'Clerk' }, CONSUMER);
  playModel(rig);
  const runtimes = Object.entries(await allRuntimes(packed, project));
  for (const [name, runtime] of runtimes) await named(name, check(rig, name, runtime));
  const each = runtimes.length;
  count({ runtimes: each, run: each, resumed: each, uploaded: each, cancelled: each });
});
