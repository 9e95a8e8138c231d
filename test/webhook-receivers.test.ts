import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { freePort } from '@runwire/test-kit/free-port.ts';
import { Webhook } from 'standardwebhooks';
import { root, sourceArguments, startRunwire } from './support/cli-process.ts';
import { CommandServer } from './support/command-server.ts';
import { listSamples } from './support/doc-samples.ts';
import { until } from './support/eventually.ts';
import { PYTHON_ENV } from './support/python.ts';
import { missingService, PYTHON } from './support/services.ts';

/* The samples of docs/webhook-receivers.md. test/doc-samples.test.ts compiles them. */

const PAGE = 'docs/webhook-receivers.md';
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const BODY = '{"type":"webhook.test","timestamp":"2030-01-01T00:00:00.000Z","data":{"apiIntegrationId":"Größe"}}';

function signedRequest(eventId: string, secret = SECRET): RequestInit {
  const at = new Date();
  const headers = {
    'content-type': 'application/json',
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(eventId, at, BODY),
  };
  return { method: 'POST', body: BODY, headers };
}

function makeFolder(t: TestContext, parent: string): string {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'receivers-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a receiver on another port than that of the sample. */
async function startReceiver(t: TestContext, start: (folder: string, port: number) => ChildProcess, wanted?: number) {
  const port = wanted ?? (await freePort());
  const child = start(makeFolder(t, tmpdir()), port);
  t.after(async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const url = `http://127.0.0.1:${port}/hook`;
  const isListening = () =>
    fetch(url, { method: 'POST', body: '' }).then(
      () => true,
      () => false,
    );
  await until(isListening);
  assert.ok(child.stdout);
  return { url, lines: createInterface(child.stdout) };
}

async function checkReceiver({ url, lines }: { url: string; lines: Interface }) {
  const printed: string[] = [];
  lines.on('line', (line) => printed.push(line));
  const post = async (request: RequestInit) => (await fetch(url, request)).status;
  assert.equal(await post(signedRequest('evt_1')), 204);
  assert.equal(await post(signedRequest('evt_1')), 204);
  assert.equal(await post(signedRequest('evt_2', `whsec_${'A'.repeat(32)}`)), 400);
  assert.equal(await post(signedRequest('evt_3')), 204);
  await until(() => printed.length === 3);
  assert.deepEqual(printed, ['new webhook.test evt_1', 'known webhook.test evt_1', 'new webhook.test evt_3']);
}

/** The receiver for Node. */
function startNodeReceiver(t: TestContext, secret: string, wanted?: number) {
  const file = join(makeFolder(t, join(root, '.work')), 'receiver.ts');
  const [sample = ''] = listSamples(PAGE, 'ts');
  const start = (cwd: string, port: number) => {
    writeFileSync(file, sample.replace('3000', String(port)));
    const env = { PATH: process.env.PATH, WEBHOOK_SECRET: secret };
    return spawn(process.execPath, [...sourceArguments, file], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  };
  return startReceiver(t, start, wanted);
}

test('the receiver for Node stores each event once, and refuses other senders', async (t) => {
  await checkReceiver(await startNodeReceiver(t, SECRET));
});

test('the receiver for Node gets events through `webhooks listen`', async (t) => {
  await using commands = await CommandServer.start({});
  const [sample = ''] = listSamples(PAGE, 'sh');
  const port = await freePort();
  const args = sample.trim().replace('3000', String(port)).split(' ').slice(1);
  const { child, result } = startRunwire(args, { env: commands.environment });
  let printed = '';
  for (const output of [child.stdout, child.stderr]) {
    output?.on('data', (piece) => {
      printed += piece;
    });
  }
  await until(() => printed.includes('Ready.') || child.exitCode !== null);
  const [secret = ''] = /whsec_\S+/.exec(printed) ?? [];
  const { lines } = await startNodeReceiver(t, secret, port);
  const run = await commands.server.api.complete({ apiIntegrationId: 'demo', message: 'Hello' });
  const [line] = await Promise.all([once(lines, 'line'), run.whole()]);
  assert.match(String(line), /^new run\.completed evt_/);
  await until(() => printed.includes(' ms)'));
  child.kill('SIGINT');
  const { code, stdout } = await result;
  assert.equal(code, 130);
  assert.match(stdout, /^[\d:]{8} {2}run\.completed {2}run_\w+ {2}204 {2}\(\d+ ms\)\n$/);
});

test('the receiver for Python does too', { skip: (await missingService('python')) ?? false }, async (t) => {
  const [sample = ''] = listSamples(PAGE, 'python');
  const receiver = await startReceiver(t, (cwd, port) => {
    const env = { PATH: process.env.PATH, ...PYTHON_ENV, WEBHOOK_SECRET: SECRET };
    const code = sample.replace('3000', String(port));
    return spawn(PYTHON, ['-c', code], { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
  });
  await checkReceiver(receiver);
});

test('the handler for web requests accepts both secrets of a rotation', async (t) => {
  const folder = makeFolder(t, join(root, '.work'));
  const file = join(folder, 'route.ts');
  writeFileSync(file, listSamples(PAGE, 'ts')[1] ?? '');
  const old = `whsec_${'A'.repeat(32)}`;
  process.env.WEBHOOK_SECRET = [SECRET, old].join();
  const { POST } = await import(pathToFileURL(file).href);
  t.mock.method(console, 'log', () => {});
  const post = async (request: RequestInit): Promise<Response> => POST(new Request('http://localhost/', request));
  assert.equal((await post(signedRequest('evt_1'))).status, 204);
  assert.equal((await post(signedRequest('evt_1', old))).status, 204);
  const refused = await post(signedRequest('evt_1', `whsec_${'B'.repeat(32)}`));
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /^No signature/);
});
