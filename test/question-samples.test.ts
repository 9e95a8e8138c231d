import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestServer, TEST_API_KEY } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { root } from './support/cli-process.ts';
import { listSamples, paste } from './support/doc-samples.ts';

/* The samples of docs/questions.md. */

const page = 'docs/questions.md';

/** Runs a program that asks on its terminal. Resolves to its output. */
async function answered(file: string, env: Readonly<Record<string, string>>, said: string): Promise<string> {
  const child = spawn(process.execPath, [file], { env: { PATH: process.env.PATH ?? '', ...env } });
  let output = '';
  child.stdout.on('data', (data) => {
    output += data;
  });
  child.stderr.on('data', (data) => {
    output += data;
  });
  child.stdin.end(`${said}\n`);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  assert.equal(code, 0, output);
  return output;
}

test('the agency and the requests of docs/state.md keep values in a chat', async (t) => {
  cites(t, 'agents-34-call', 'agents-34-instructions', 'agents-34-patch');
  const [agency = ''] = listSamples('docs/state.md', 'ts');
  const [requests = ''] = listSamples('docs/state.md', 'sh');
  using folder = new AgenciesFolder({ 'demo-shop/agency.ts': agency, 'demo-shop/package.json': '{"type":"module"}' });
  await using server = await startTestServer({ env: { RUNWIRE_AGENCIES_DIR: folder.path } });
  await server.api.patch('/v2/integrations/demo', { agency: 'demo-shop' });
  const chat = { apiIntegrationId: 'demo', chatId: 'trip' };
  for (const article of ['pen', 'ink']) {
    const message = `/tool add_to_cart ${JSON.stringify({ article })}`;
    await (await server.api.complete({ ...chat, message })).whole();
  }
  const printed = await paste(t, requests, { URL: server.url, KEY: TEST_API_KEY });
  assert.equal(printed, '{"cart":["pen","ink"]}\n{"cart":["pen","ink"],"plan":"pro"}\n');
  const run = await server.api.complete({ ...chat, message: 'Hi' });
  await run.whole();
  const prompt = await server.api.get(`/v2/integrations/demo/runs/${run.headers['x-run-id']}/steps/1/prompt`);
  assert.match(prompt.body.instructions, /start of this conversation: \["pen","ink"\]/);
  assert.equal(prompt.body.exact, true);
});

test('the agency and the backend of docs/questions.md ask and answer', async (t) => {
  const [agency = ''] = listSamples(page, 'yaml');
  const [tools = '', backend = ''] = listSamples(page, 'ts');
  const [asking = '', inbox = ''] = listSamples(page, 'sh');
  const [pending = '', request = ''] = listSamples(page, 'json');
  using folder = new AgenciesFolder({
    'shop/agency.yaml': agency,
    'shop/tools.ts': tools,
    'shop/package.json': '{"type":"module"}',
    'shop/backend.ts': backend,
  });
  folder.link('shop/node_modules', join(root, 'node_modules'));
  await using server = await startTestServer({ env: { RUNWIRE_AGENCIES_DIR: folder.path } });
  const env = { URL: server.url, KEY: TEST_API_KEY };
  const printed = await paste(t, asking, env);
  assert.match(printed, /"name":"tool_approval_requested","item":\{"type":"tool_approval_item","question_id":"qst_/);
  const { body: chat } = await server.api.get('/v2/integrations/shop/chats/c1');
  const [example] = JSON.parse(pending);
  const [{ questionId, callId }] = chat.pending;
  assert.deepEqual(chat.pending, [{ ...example, questionId, callId }]);
  const lists = await paste(t, inbox, env);
  assert.equal(lists.split(questionId).length - 1, 2, lists);
  const output = await answered(join(folder.path, 'shop/backend.ts'), env, 'yes');
  assert.match(output, /refunded, yes, key run_\w+\/call_/);
  assert.deepEqual((await server.api.get('/v2/integrations/shop/chats/c1')).body.pending, []);
  await server.api.patch('/v2/integrations/shop', { clientTools: true });
  const brought = await server.api.complete({ ...JSON.parse(request), message: '/tool pick {"options":["a"]}' });
  await brought.whole();
  assert.match(brought.text, /"name":"client_tool_requested"/);
});
