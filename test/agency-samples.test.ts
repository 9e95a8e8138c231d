import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ApiClient, startTestServer, TEST_API_KEY } from '@runwire/test-kit';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { runwire } from './support/cli-process.ts';
import { listSamples, paste } from './support/doc-samples.ts';
import { eventually } from './support/eventually.ts';
import { starterFolder } from './support/portable-starters.ts';

/* The samples of the pages about agencies. */

interface AgencyRow {
  readonly agency: string;
  readonly error: unknown;
  readonly agents: readonly { readonly name: string; readonly tools: readonly string[] }[];
}

async function listed(api: ApiClient): Promise<ReadonlyMap<string, AgencyRow>> {
  const { body } = await api.get('/v2/agencies?limit=200');
  return new Map(body.items.map((item: AgencyRow) => [item.agency, item]));
}

test('your first agency in five minutes works as written', async (t) => {
  using folder = new AgenciesFolder({});
  const page = 'docs/first-agency.md';
  const [mkdir = '', check = '', start = '', variables = '', first = '', second = '', ask = ''] = listSamples(
    page,
    'sh',
  );
  const [one = '', two = ''] = listSamples(page, 'yaml');
  const [tools = ''] = listSamples(page, 'ts');
  assert.equal(mkdir, 'mkdir -p agencies/support\n');
  assert.equal(start, 'RUNWIRE_AGENCIES_DIR=agencies RUNWIRE_AGENCIES_WATCH=true npm start\n');
  assert.match(variables, /^URL=http:\/\/127\.0\.0\.1:8787\nKEY=/);
  folder.write({ 'support/agency.yaml': one });
  assert.equal(check, 'bin/runwire agencies check agencies\n');
  assert.equal((await runwire(['agencies', 'check', folder.path])).stdout, 'support: ok (yaml, 1 agent)\n');
  const env = { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_AGENCIES_WATCH: 'true' };
  await using server = await startTestServer({ env });
  const asPasted = (sample: string) => paste(t, sample, { URL: server.url, KEY: TEST_API_KEY });
  assert.match(await asPasted(first), /"agent":"Triage"[\s\S]*event: end\n/);
  folder.write({ 'support/tools.ts': tools, 'support/agency.yaml': two });
  await eventually('the edit was loaded', async () => (await listed(server.api)).get('support')?.agents.length === 2);
  const printed = await asPasted(second);
  assert.match(printed, /3 copies of Moby-Dick/);
  assert.match(printed, /"agent":"Writer","callerAgent":"Triage"/);
  assert.match(await asPasted(ask), /"agency":"support"[^}]*"name":"Support"/);
});

test('the recipes of the pages about other frameworks are the files that the proof `portable` runs', async () => {
  const ported = (name: string, file: string) => readFileSync(join(starterFolder('ported', name), file), 'utf8');
  const pages = {
    'docs/from-agency-swarm.md': { yaml: ['agency-swarm', 'agency.yaml'], ts: ['agency-swarm', 'tools.ts'] },
    'docs/from-crewai.md': { yaml: ['crewai', 'agency.yaml'] },
    'docs/from-google-adk.md': { yaml: ['google-adk', 'agency.yaml'], ts: ['google-adk', 'tools.ts'] },
    'docs/from-claude-agents.md': { yaml: ['claude', 'agency.yaml'] },
    'docs/from-openai-agents.md': { ts: ['openai-agents', 'agency.ts'] },
  } as const;
  for (const [page, samples] of Object.entries(pages)) {
    for (const [language, [name, file]] of Object.entries(samples)) {
      assert.equal(listSamples(page, language as 'yaml' | 'ts')[0], ported(name, file), `${page}: ${file}`);
    }
  }
  const [lead, debug] = listSamples('docs/from-claude-agents.md', 'markdown');
  assert.deepEqual([lead, debug], [ported('claude', 'agents/lead.md'), ported('claude', 'agents/debugger.md')]);
  const [python = ''] = listSamples('docs/from-openai-agents.md', 'yaml');
  using folder = new AgenciesFolder({ 'food/agency.yaml': python });
  const env = { RUNWIRE_AGENCIES_DIR: folder.path };
  await using server = await startTestServer({ env });
  assert.equal((await listed(server.api)).get('food')?.error, null);
});

test('the samples of the pages about agencies load, and the server reports its fault', async () => {
  const page = 'docs/agencies.md';
  const ofCode = 'docs/agency-process.md';
  const tool =
    "export const find_invoice = { description: 'Finds it.', inputSchema: { type: 'object' }, execute: () => '' };\n";
  using folder = new AgenciesFolder({
    'support/agency.yaml': listSamples(page, 'yaml')[0] ?? '',
    'support/billing.md': 'You answer questions about invoices.\n',
    'support/agents/reviewer.md': listSamples(page, 'markdown')[0] ?? '',
    'support/tools.ts': tool,
    'shop/agency.yaml': listSamples(ofCode, 'yaml')[0] ?? '',
    'shop/tools.ts': listSamples(ofCode, 'ts')[0] ?? '',
    'long/agency.yaml': listSamples('docs/long-chats.md', 'yaml')[0] ?? '',
    'broken/agency.yaml': 'name: Broken\nagents:\n  - name: A\n    role: Helper\n    instructions: Help.\n',
  });
  const env = { RUNWIRE_AGENCIES_DIR: folder.path, AWS_REGION: 'eu-central-1', OPENAI_API_KEY: 'key' };
  await using server = await startTestServer({ env });
  const agencies = await listed(server.api);
  assert.equal(agencies.get('support')?.error, null);
  assert.equal(agencies.get('shop')?.error, null);
  assert.equal(agencies.get('long')?.error, null);
  assert.deepEqual(
    agencies.get('support')?.agents.map(({ name, tools }) => [name, ...tools]),
    [
      ['Triage', 'list_files', 'read_file', 'search_files', 'show_file'],
      ['Billing', 'find_invoice', 'read_file'],
      ['Reviewer', 'read_file', 'search_files'],
    ],
  );
  assert.deepEqual(agencies.get('broken')?.error, JSON.parse(listSamples(page, 'json')[0] ?? ''));
});
