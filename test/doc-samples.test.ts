import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type AgencyDefinition, defineAgency } from '@runwire/agency';
import { startTestServer, storeEnvironment, TEST_API_KEY, TestMount, temporaryFolder } from '@runwire/test-kit';
import { root } from './support/cli-process.ts';

const run = promisify(execFile);

/** The samples of a page in one language, in order. */
function samplesOf(page: string, language: 'sh' | 'ts'): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, named, sample = '']) =>
    named === language ? [sample] : [],
  );
}

/** Runs a sample as pasted, but that a refusal is a failure. Resolves to what it printed. */
async function paste(t: TestContext, sample: string, env: Readonly<Record<string, string>>): Promise<string> {
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const script = `set -e\ncurl() { command curl -sS --fail-with-body "$@"; echo; }\n${sample}`;
  const { stdout } = await run('sh', ['-c', script], {
    cwd: sample.startsWith('npm ') ? root : folder,
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    timeout: 60_000,
  });
  return stdout;
}

test('the samples about accounts work as pasted, one after the other', async (t) => {
  await using server = await startTestServer();
  const { body: spare } = await server.api.post('/v2/api_keys', { name: 'spare' });
  const store = await storeEnvironment(server.dataDir);
  const variables = { ...store, RUNWIRE_DATA_DIR: server.dataDir, KEY_ID: String(spare.keyId) };
  const [settings = '', ...samples] = samplesOf('docs/accounts.md', 'sh');
  const named = settings.replace('http://127.0.0.1:8787', server.url).replace('<your key>', TEST_API_KEY);
  assert.ok(named.includes(server.url) && named.includes(TEST_API_KEY), 'the first one sets the address and the key');
  const printed: string[] = [];
  for (const sample of samples) {
    printed.push(await paste(t, sample.startsWith('npm ') ? sample : named + sample, variables));
  }
  const has = (text: RegExp) => assert.match(printed.join('\n'), text);
  has(/"email":"ops@example.com"/);
  has(/"administrator":true/);
  has(/"consumerId":"user-42".*"ownLimit":10/);
  has(/event: end\ndata: \[DONE\]/);
  has(/"usageRequestId":"order-1".*"charged":\{"unit":"runs","amount":1\}/);
  const { body: keys } = await server.api.get('/v2/api_keys');
  const revoked = keys.items.filter(({ revokedAt }: { revokedAt: string | null }) => revokedAt !== null);
  assert.deepEqual(
    revoked.map(({ keyId }: { keyId: string }) => keyId),
    [spare.keyId],
  );
  const names = keys.items.map(({ name }: { name: string }) => name);
  assert.equal(names.filter((name: string) => name === 'spare').length, 2, 'the command made one too');
});

test('the samples about streams work as pasted, and so does the first request', async (t) => {
  await using server = await startTestServer();
  const first = await server.api.complete({ apiIntegrationId: 'demo', message: 'Hi', usageRequestId: 'req-1' });
  await first.whole();
  const variables = { URL: server.url, KEY: TEST_API_KEY, RUN: String(first.headers['x-run-id']) };
  const samples = samplesOf('docs/stream.md', 'sh');
  assert.ok(samples.length > 0);
  for (const sample of samples) {
    const printed = await paste(t, sample, variables);
    if (sample.includes('Last-Event-ID: 19')) assert.match(printed, /^(: \n\n)?id: 20\n[\s\S]*\nevent: end\n/);
    else assert.match(printed, /"status":"idle"/);
  }
  const posts = samplesOf('README.md', 'sh').filter((sample) => sample.startsWith('curl '));
  assert.equal(posts.length, 1);
  const [post = ''] = posts;
  const filled = post.replace('http://127.0.0.1:8787', server.url).replace('<the key that was printed>', TEST_API_KEY);
  assert.match(await paste(t, filled, {}), /event: end\ndata: \[DONE\]/);
});

test('the samples about sandbox files work as pasted, for files that were uploaded', async (t) => {
  await using server = await startTestServer();
  await (await TestMount.in(server.dataDir)).put('demo', '/app/mnt/u/42/notes.txt', 'Buy milk.');
  const printed: string[] = [];
  const samples = samplesOf('docs/sandbox-files.md', 'sh');
  assert.equal(samples.length, 2);
  for (const sample of samples) printed.push(await paste(t, sample, { URL: server.url, KEY: TEST_API_KEY }));
  assert.match(printed[0] ?? '', /event: end\ndata: \[DONE\]/);
  assert.match(printed[1] ?? '', /Buy milk\./);
  const { body } = await server.api.get('/v2/integrations/demo/chats/errands/messages');
  assert.deepEqual(body.items[3].sandboxFiles, [{ name: 'notes.txt', path: '/app/mnt/u/42/notes.txt' }]);
});

/** What the pages leave to the reader: before a sample, and after it. */
const AROUND: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'docs/tools.md': [
    ['const forecast = async (city: string, days: number, _: unknown) => [city, days].join();', ''],
    [
      `import { defineTool } from '@runwire/agency';
       import { tool } from 'ai';
       import { z } from 'zod';
       const inputSchema = z.object({ id: z.string() });
       const execute = async ({ id }: { readonly id: string }) => id;`,
      'export const agent = { name: "Clerk", description: "Pays.", instructions: "Pay.", tools: { refund, look_up: lookUp } };',
    ],
    ["import { defineAgent } from '@runwire/agency';", 'export const agent = clerk;'],
  ],
  'docs/models.md': [["import { defineAgent } from '@runwire/agency';\nexport const agent =", '']],
};

test('the samples in TypeScript have the types they need, and are agencies that are taken', async (t) => {
  mkdirSync(join(root, '.work'), { recursive: true });
  const folder = mkdtempSync(join(root, '.work/doc-samples-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const files: string[] = [];
  for (const [page, around] of Object.entries(AROUND)) {
    const samples = samplesOf(page, 'ts');
    assert.equal(samples.length, around.length, `each sample of ${page} is looked at`);
    for (const [place, sample] of samples.entries()) {
      const [before, after] = around[place] ?? ['', ''];
      const file = join(folder, `${page.replace(/\W/g, '-')}-${place}.ts`);
      writeFileSync(file, `${before}\n${sample}\n${after}\n`);
      files.push(file);
    }
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ extends: '../../tsconfig.json', include: ['*.ts'] }));
  const checked = await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder, '--checkers', '1'], {
    timeout: 110_000,
  }).catch((error: { readonly stdout: string }) => error);
  assert.equal(checked.stdout, '');
  const agencies: Record<string, AgencyDefinition> = {};
  for (const [place, file] of files.entries()) {
    const { default: agency, agent } = await import(pathToFileURL(file).href);
    agencies[`sample-${place}`] = agency ?? defineAgency({ name: 'Sample', agents: [agent] });
  }
  await using server = await startTestServer({ agencies });
  const { body } = await server.api.get('/v2/agencies');
  const taken = body.items.filter(({ agency }: { agency: string }) => agency.startsWith('sample-'));
  assert.deepEqual(
    taken.map(({ error }: { error: unknown }) => error),
    files.map(() => null),
  );
  const tools = taken.map(({ agents }: { agents: { tools: string[] }[] }) =>
    agents.flatMap((one) => one.tools).join(' '),
  );
  const added = ' list_files read_file search_files';
  const expected = ['', `refund look_up${added}`, `weather${added}`, added.trim()];
  assert.deepEqual(tools.toSorted(), expected.toSorted());
});

test('the sample that signs an upload works as pasted', async (t) => {
  await using server = await startTestServer();
  const [sample = '', ...more] = samplesOf('docs/files.md', 'sh').filter((text) =>
    text.includes('"$URL/create_agency_upload" -H'),
  );
  assert.ok(sample !== '' && more.length === 0);
  const printed = await paste(t, sample, { URL: server.url, KEY: TEST_API_KEY });
  const { resource, uploadUrl } = JSON.parse(printed);
  assert.deepEqual([resource, uploadUrl], ['/app/mnt/u/42/photo.png', `${server.url}/uploads/demo`]);
});
