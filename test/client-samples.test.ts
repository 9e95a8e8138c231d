import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { startTestServer, TEST_API_KEY } from '@runwire/test-kit';
import { root } from './support/cli-process.ts';
import { listSamples } from './support/doc-samples.ts';

/* The samples of docs/client.md and of the README of the package. test/doc-samples.test.ts compiles them. */

const refund = defineTool({
  ...{ name: 'refund', description: 'Pays money back.', inputSchema: { type: 'object' }, needsApproval: true },
  execute: (_, { approval }) => `refunded: ${approval?.reason}`,
});
const clerk = defineAgent({
  name: 'Clerk',
  description: 'Sells.',
  instructions: 'Sell.',
  tools: [refund],
  files: false,
});

/** Runs a sample in this process. Resolves to its exports, and to what it printed. */
async function runSample(t: TestContext, folder: string, name: string, sample: string) {
  const file = join(folder, `${name}.ts`);
  writeFileSync(file, sample);
  const printed: string[] = [];
  const log = t.mock.method(console, 'log', (...values: unknown[]) => printed.push(values.join(' ')));
  const module = await import(pathToFileURL(file).href);
  log.mock.restore();
  return { module, printed: printed.join('\n') };
}

test('the samples of the client work as pasted', async (t) => {
  await using server = await startTestServer({
    agencies: { shop: defineAgency({ name: 'Shop', agents: [clerk] }) },
  });
  await server.api.post('/v2/integrations', { apiIntegrationId: 'shop', agency: 'shop' });
  mkdirSync(join(root, '.work'), { recursive: true });
  const folder = mkdtempSync(join(root, '.work/client-samples-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  Object.assign(process.env, { RUNWIRE_URL: server.url, RUNWIRE_API_KEY: TEST_API_KEY });

  const guide = listSamples('docs/client.md', 'ts');
  const expected = [
    /You said: Plan a trip to Rome\./,
    /^$/,
    /^$/,
    /^$/,
    /This answer takes 1 seconds/,
    /^Failed after: /,
    /9 of 9\n[\s\S]*Buy milk\./,
    /refunded: \{"cents":9900\}/,
    /user-42 Ann\n[1-9]/,
  ];
  assert.equal(guide.length, expected.length);
  const modules = [];
  for (const [index, pattern] of expected.entries()) {
    const { module, printed } = await runSample(t, folder, `guide-${index}`, guide[index] ?? '');
    assert.match(printed, pattern, `sample ${index}`);
    modules.push(module);
  }
  const [, backend, tokens, page] = modules;
  const body = JSON.stringify({ message: 'Hi', chatId: 'c1', usageRequestId: 'page-1' });
  const post = async (lastEventId?: string): Promise<{ status: number; text: string }> => {
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const answer = await backend.handle(new Request('http://localhost/', { method: 'POST', body, headers }));
    return { status: answer.status, text: await answer.text() };
  };
  const whole = await post();
  assert.match(whole.text, /event: end\ndata: \[DONE\]\n\n$/);
  assert.deepEqual(await post(), whole, 'the page repeats the request');
  const [third = ''] = /^id: 3$[\s\S]*/m.exec(whole.text) ?? [];
  assert.deepEqual(await post('2'), { status: 200, text: third });
  const last = whole.text
    .match(/^id: (\d+)$/gm)
    ?.at(-1)
    ?.slice(4);
  assert.deepEqual(await post(last), { status: 204, text: '' });
  assert.equal((await server.api.get('/v2/integrations/demo/runs?chatId=c1')).body.items.length, 1);

  const { fetch } = globalThis;
  t.mock.method(globalThis, 'fetch', (input: string, init: RequestInit) =>
    input === '/token' ? tokens.handleToken('user-42') : fetch(input, init),
  );
  assert.match(await page.ask(server.url, 'Hello'), /You said: Hello/);
  t.mock.restoreAll();

  const [start = '', rest = ''] = listSamples('packages/client/README.md', 'ts');
  assert.match((await runSample(t, folder, 'readme-0', start)).printed, /\n[1-9]\d+$/);
  assert.match(
    (await runSample(t, folder, 'readme-1', rest)).printed,
    /run_\w+ completed\n[\s\S]*chat_not_found 404 false$/,
  );
});
