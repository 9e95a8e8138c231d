import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ScriptedMcpHttp, TEST_API_KEY } from '@runwire/test-kit';
import { getFolder, root } from './support/cli-process.ts';
import { listSamples, paste } from './support/doc-samples.ts';
import { eventually } from './support/eventually.ts';
import { McpRig, toolNames } from './support/mcp-agency.ts';

/* The samples of docs/mcp.md. */

const page = 'docs/mcp.md';
const [agencyYaml = ''] = listSamples(page, 'yaml');
const [agencyTs = ''] = listSamples(page, 'ts');
const [command = ''] = listSamples(page, 'sh');
const [shown = ''] = listSamples(page, 'json');

/** Starts the agency with this repository's packages. The only program on the PATH is `node`, as in the image. */
async function start(t: TestContext, files: Readonly<Record<string, string>>): Promise<McpRig> {
  const text = { 'files/prices.txt': 'A pen costs 2 euros.', ...files };
  const links = { node_modules: join(root, 'node_modules') };
  const PATH = getFolder(t);
  symlinkSync(process.execPath, join(PATH, 'node'));
  const rig = await McpRig.start(text, { SHOP_TOKEN: 'shop-token', PATH }, links);
  await eventually('docs is connected', async () => (await rig.states())[0]?.state === 'connected');
  return rig;
}

test('the agency of docs/mcp.md uses both servers', async (t) => {
  await using shop = await ScriptedMcpHttp.start({ token: 'shop-token' });
  await using rig = await start(t, { 'agency.yaml': agencyYaml.replace('https://mcp.example.com/mcp', shop.url) });
  const held = await rig.hold();
  const names = toolNames(held).filter((name) => /^(docs|shop)_/.test(name));
  assert.deepEqual(names.toSorted(), ['docs_list_directory', 'docs_read_text_file']);
  assert.deepEqual(await rig.outputs(held, ['docs_read_text_file', { path: 'prices.txt' }]), ['A pen costs 2 euros.']);
  const orders = await rig.hold({ agent: 'Orders' });
  assert.deepEqual(await rig.outputs(orders, ['shop_echo', { text: 'x' }]), ['x']);
  const printed = JSON.parse(await paste(t, command, { URL: rig.rig.server.url, KEY: TEST_API_KEY }));
  const [docs] = printed.items.find(({ agency }: { readonly agency: string }) => agency === 'mine').mcp;
  const [example] = JSON.parse(shown);
  // What the server printed last depends on the time.
  assert.deepEqual({ ...docs, since: '', lastOutput: null }, { ...example, since: '' });
});

test('the agency.ts of docs/mcp.md works', async (t) => {
  await using rig = await start(t, { 'agency.ts': agencyTs });
  assert.deepEqual(await rig.run(['docs_read_text_file', { path: 'prices.txt' }]), ['A pen costs 2 euros.']);
});
