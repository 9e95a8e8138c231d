import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { startTestServer, TEST_API_KEY, type TestServer } from '@runwire/test-kit';
import { root } from './support/cli-process.ts';
import { listSamples, paste } from './support/doc-samples.ts';
import { calls, play, say } from './support/play.ts';
import { ScriptedServer } from './support/scripted-server.ts';

/* The samples of docs/ag-ui.md and docs/mcp-server.md. test/doc-samples.test.ts compiles them. */

const refund = defineTool({
  ...{ name: 'refund', description: 'Pays money back.', inputSchema: { type: 'object' }, needsApproval: true },
  execute: () => 'refunded',
});
const clerk = defineAgent({
  ...{ name: 'Clerk', description: 'Sells.', instructions: 'You are Clerk.', tools: [refund], files: false },
});
const agencies = { shop: defineAgency({ name: 'Shop', agents: [clerk] }) };

/** Runs a sample in this process, and resolves to what it printed. */
async function runSample(t: TestContext, { url }: TestServer, sample: string): Promise<string> {
  mkdirSync(join(root, '.work'), { recursive: true });
  const folder = mkdtempSync(join(root, '.work/compatible-samples-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  Object.assign(process.env, { RUNWIRE_URL: url, RUNWIRE_API_KEY: TEST_API_KEY });
  const file = join(folder, 'sample.ts');
  writeFileSync(file, sample);
  const printed: string[] = [];
  const log = t.mock.method(console, 'log', (...values: unknown[]) => printed.push(JSON.stringify(values)));
  const write = t.mock.method(process.stdout, 'write', (text: string) => printed.push(text) > 0);
  try {
    await import(pathToFileURL(file).href);
  } finally {
    log.mock.restore();
    write.mock.restore();
  }
  return printed.join('');
}

test('the page of docs/ag-ui.md answers a frontend tool and an approval', async (t) => {
  await using rig = await ScriptedServer.start({ agencies });
  await rig.api.post('/v2/integrations', { apiIntegrationId: 'shop', agency: 'shop', clientTools: true });
  await rig.member('shop', 'user-42');
  const made = play(rig, {
    Clerk: [calls(['c1', 'page_title', {}]), calls(['c2', 'refund', { cents: 9900 }]), say('I paid 99 euros back.')],
  });
  const [sample = ''] = listSamples('docs/ag-ui.md', 'ts');
  assert.equal(await runSample(t, rig.server, sample), 'I paid 99 euros back.');
  const outputs = made.at(-1)?.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
  assert.deepEqual(outputs, ['Shopping cart', 'refunded']);
});

test('the samples of docs/mcp-server.md list the tools and ask an agent', async (t) => {
  await using server = await startTestServer({ agencies });
  await server.api.post('/v2/integrations', { apiIntegrationId: 'shop', agency: 'shop' });
  const page = 'docs/mcp-server.md';
  const [curl = ''] = listSamples(page, 'sh');
  assert.match(await paste(t, curl, { URL: server.url, KEY: TEST_API_KEY }), /"name":"ask_Clerk"/);
  const [program = ''] = listSamples(page, 'ts');
  assert.match(await runSample(t, server, program), /You said: Do you have umbrellas\?.*"status":"completed"/);

  const blocks = listSamples(page, 'json').map((text) => JSON.parse(text));
  assert.deepEqual(
    blocks.map((block) => Object.keys(block)[0]),
    ['mcpServers', 'mcpServers', 'servers'],
  );
  for (const block of blocks) {
    const { url, headers } = (block.mcpServers ?? block.servers).shop;
    const filled = Object.entries<string>(headers).map(([name, value]) => [
      name,
      value.replace(/\$\{.+\}/, TEST_API_KEY),
    ]);
    const client = new Client({ name: 'host', version: '1' });
    const requestInit = { headers: Object.fromEntries(filled) };
    const address = new URL(url.replace('http://localhost:8787', server.url));
    await client.connect(new StreamableHTTPClientTransport(address, { requestInit }));
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ['ask_Clerk'],
    );
    await client.close();
  }
});
