import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type AgencyDefinition, defineAgency } from '@runwire/agency';
import { startTestServer, storeEnvironment, TEST_API_KEY, type TestServer } from '@runwire/test-kit';
import { readConfig } from '../packages/server/src/config/read-config.ts';
import { root, sourceArguments } from './support/cli-process.ts';
import { pickColumn } from './support/columns.ts';
import { listSamples, paste, run } from './support/doc-samples.ts';
import { writeTypeScriptSamples } from './support/typescript-samples.ts';
import { at, upload } from './support/uploads.ts';

/** Pastes the samples of a page one after the other, and resolves to their outputs. */
async function pastePage(t: TestContext, page: string, { url }: TestServer, env: Record<string, string> = {}) {
  const printed: string[] = [];
  for (const sample of listSamples(page, 'sh')) {
    // The proof `fresh-clone` and the test of settings below start servers.
    if (/\bnpm start\b/.test(sample) || sample.startsWith('npm ci')) continue;
    const filled = sample
      .replaceAll('http://127.0.0.1:8787', url)
      .replace(/<your key>|<the key that was printed>/, TEST_API_KEY);
    printed.push(await paste(t, filled, { URL: url, KEY: TEST_API_KEY, ...env }));
  }
  return printed;
}

test('the guides about requests, chats and streams work as pasted', async (t) => {
  await using server = await startTestServer();
  const store = { ...(await storeEnvironment(server.dataDir)), RUNWIRE_DATA_DIR: server.dataDir };
  const [readme = ''] = await pastePage(t, 'README.md', server);
  assert.match(readme, /event: end\ndata: \[DONE\]/);

  const [, first = '', asked = '', created = ''] = await pastePage(t, 'docs/first-steps.md', server, store);
  assert.match(first, /"usageRequestId":"first-1"[\s\S]*event: end\n/);
  assert.match(asked, /"usageRequestId":"first-1","status":"completed"/);
  assert.match(created, /eyJ[\w-]+\.[\w-]+\.[\w-]+/, 'a key');

  const slow = await server.api.complete({ apiIntegrationId: 'demo', message: '/slow 600', usageRequestId: 'slow' });
  const RUN = String(slow.headers['x-run-id']);
  const [turns = '', status = '', cancelled = '', lists = '', searched = '', titled = ''] = await pastePage(
    t,
    'docs/chats.md',
    server,
    { RUN },
  );
  await slow.whole();
  assert.match(turns, /You said: Make it shorter\./);
  assert.match(status, /"chatId":"trip",.*"status":"idle",.*"numMessages":4,.*"usageRequestId":"trip-2"/);
  assert.match(cancelled, /"status":"cancelled","cancelled":true/);
  assert.match(lists, /"content":"Plan a trip\."/);
  assert.match(searched, /"messagePreview":"Plan a trip\."/);
  assert.match(titled, /"title":"A trip to Rome",.*"metadata":\{"folder":"travel"\}/);
  assert.equal((await server.api.get('/v2/integrations/demo/chats/trip')).status, 404, 'the last sample deletes it');

  const trip = await server.api.complete({ apiIntegrationId: 'demo', chatId: 'trip', message: 'Plan a trip.' });
  await trip.whole();
  const [forked = ''] = await pastePage(t, 'docs/forks.md', server);
  assert.match(forked, /"chatId":"trip-2",.*"forkedFrom":\{"chatId":"trip","runId":"run_/);

  const runId = String(trip.headers['x-run-id']);
  const [rerun = '', compared = ''] = await pastePage(t, 'docs/reruns.md', server, { RUN: runId, OTHER_RUN: runId });
  assert.match(rerun, /You said: Plan a longer trip\.[\s\S]*\nevent: end\n/);
  assert.match(compared, /"change":"equal"/);

  const [evaluated = ''] = await pastePage(t, 'docs/evals.md', server);
  assert.match(evaluated, /The tool was called\. It returned: Monday, 12:00[\s\S]*\nevent: end\n/);

  const [endpoint = ''] = await pastePage(t, 'docs/webhooks.md', server);
  assert.match(endpoint, /"events":\["run.completed","run.failed"\],.*"secret":"whsec_/);

  const [text = ''] = await pastePage(t, 'docs/text-only.md', server);
  assert.match(text, /\nThis is the offline demo model: .* You said: Hello\n$/);

  const known = await server.api.complete({ apiIntegrationId: 'demo', message: 'Hi', usageRequestId: 'req-1' });
  await known.whole();
  const variables = { RUN: String(known.headers['x-run-id']) };
  const [again = '', events = '', found = ''] = await pastePage(t, 'docs/stream.md', server, variables);
  for (const resumed of [again, events]) assert.match(resumed, /^(: \n\n)?id: 20\n[\s\S]*\nevent: end\n/);
  assert.match(found, /"status":"idle"/);

  const [health = ''] = await pastePage(t, 'docs/monitoring.md', server);
  assert.match(health, /"status":"ok"[\s\S]*"status":"ok","store":/);
});

test('the guides about accounts, members and usage work as pasted', async (t) => {
  await using server = await startTestServer();
  const { body: spare } = await server.api.post('/v2/api_keys', { name: 'spare' });
  const store = await storeEnvironment(server.dataDir);
  const variables = { ...store, RUNWIRE_DATA_DIR: server.dataDir, KEY_ID: String(spare.keyId) };
  const printed: string[] = [];
  for (const page of ['docs/accounts.md', 'docs/members.md', 'docs/erasure.md', 'docs/usage.md']) {
    printed.push(...(await pastePage(t, page, server, variables)));
  }
  const has = (text: RegExp) => assert.match(printed.join('\n'), text);
  has(/"email":"ops@example.com"/);
  has(/"administrator":true/);
  has(/"consumerId":"user-42".*"ownLimit":10/);
  has(/event: end\ndata: \[DONE\]/);
  has(/"usageRequestId":"order-1".*"charged":\{"unit":"runs","amount":1\}/);
  has(/"kind":"adjustment",.*"amount":1,"applied":1,.*"idempotencyKey":"ticket-7"/);
  has(/"groupBy":"consumer".*"key":"user-42","runs":1/);
  has(/"consumerId":"user-7","status":"eras(?:ing|ed)"/);
  const { body: keys } = await server.api.get('/v2/api_keys');
  const revoked = keys.items.filter(({ revokedAt }: { revokedAt: string | null }) => revokedAt !== null);
  assert.deepEqual(pickColumn(revoked, 'keyId'), [spare.keyId]);
  const names = keys.items.map(({ name }: { name: string }) => name);
  assert.equal(names.filter((name: string) => name === 'spare').length, 2, 'the command created one too');
});

test('the guides about files and secrets work as pasted', async (t) => {
  await using server = await startTestServer();
  await upload(server.api, 'Buy milk.', at('/app/mnt/u/42/notes.txt'));
  const [announced = '', read = ''] = await pastePage(t, 'docs/sandbox-files.md', server);
  assert.match(announced, /event: end\ndata: \[DONE\]/);
  assert.match(read, /Buy milk\./);
  const { body } = await server.api.get('/v2/integrations/demo/chats/errands/messages');
  assert.deepEqual(body.items[3].sandboxFiles, [{ name: 'notes.txt', path: '/app/mnt/u/42/notes.txt' }]);

  const sign = listSamples('docs/files.md', 'sh')[2] ?? '';
  const signed = JSON.parse(await paste(t, sign, { URL: server.url, KEY: TEST_API_KEY }));
  assert.deepEqual([signed.resource, signed.uploadUrl], ['/app/mnt/u/42/photo.png', `${server.url}/uploads/demo`]);

  const store = { ...(await storeEnvironment(server.dataDir)), RUNWIRE_DATA_DIR: server.dataDir };
  const [rotated = ''] = await pastePage(t, 'docs/upload-address.md', server, store);
  assert.match(rotated, /signed with secret number \d+/);
});

test('every command of the docs that starts a server has settings that are accepted', () => {
  const commands = ['docs/settings.md', 'docs/s3.md', 'docs/postgres.md', 'docs/nodes.md', 'docs/models.md'].map(
    (page) => [page, listSamples(page, 'sh')[0] ?? ''] as const,
  );
  for (const [page, command] of commands) {
    assert.match(command, /npm start$/m, page);
    const settings = [...command.matchAll(/\b([A-Z][A-Z0-9_]+)=(\S+)/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]);
    assert.ok(settings.length > 0, page);
    readConfig(Object.fromEntries(settings));
  }
});

test('the samples in TypeScript compile, the test passes, and the agencies are accepted', async (t) => {
  mkdirSync(join(root, '.work'), { recursive: true });
  const folder = mkdtempSync(join(root, '.work/doc-samples-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { files, sampleTest } = writeTypeScriptSamples(folder);
  // The gate has checked their types together with those of the sources. Alone they cost 9 CPU seconds.
  if (process.env.TEST_BUILD === undefined) {
    const checked = await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder, '--checkers', '1'], {
      timeout: 110_000,
    }).catch((error: { readonly stdout: string }) => error);
    assert.equal(checked.stdout, '');
  }
  await run(process.execPath, [...sourceArguments, sampleTest], { env: { PATH: process.env.PATH }, timeout: 60_000 });
  const agencies: Record<string, AgencyDefinition> = {};
  for (const [index, file] of files.entries()) {
    const { default: agency, agent } = await import(pathToFileURL(file).href);
    agencies[`sample-${index}`] = agency ?? defineAgency({ name: 'Sample', agents: [agent] });
  }
  await using server = await startTestServer({ agencies });
  const { body } = await server.api.get('/v2/agencies');
  const taken = body.items.filter(({ agency }: { agency: string }) => agency.startsWith('sample-'));
  assert.deepEqual(
    pickColumn(taken, 'error'),
    files.map(() => null),
  );
  const tools = taken.map(({ agents }: { agents: { tools: string[] }[] }) =>
    agents.flatMap((one) => one.tools).join(' '),
  );
  const added = ' list_files read_file search_files show_file';
  const own = ['refund look_up', 'weather', 'read_hotels', 'add_to_cart', 'verify refund'];
  const expected = ['', ...own.map((names) => names + added)];
  expected.push(added.trim(), added.trim());
  assert.deepEqual(tools.toSorted(), expected.toSorted());
});
