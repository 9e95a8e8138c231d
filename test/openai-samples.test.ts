import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestServer, TEST_API_KEY } from '@runwire/test-kit';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { root } from './support/cli-process.ts';
import { listSamples, paste, run } from './support/doc-samples.ts';

/* The samples of docs/openai.md. */

const page = 'docs/openai.md';

test('the samples of docs/openai.md get answers, plain and streamed', async (t) => {
  await using server = await startTestServer();
  const env = { URL: server.url, KEY: TEST_API_KEY };
  const [commands = ''] = listSamples(page, 'sh');
  const printed = await paste(t, commands, env);
  assert.match(printed, /"object":"response","created_at":\d+,"status":"completed"/);
  assert.match(printed, /event: response\.completed\n[\s\S]*data: \[DONE\]\n/);
  const [client = ''] = listSamples(page, 'ts');
  using folder = new AgenciesFolder({ 'client.ts': client, 'package.json': '{"type":"module"}' });
  folder.link('node_modules', join(root, 'node_modules'));
  const { stdout } = await run(process.execPath, [join(folder.path, 'client.ts')], { env });
  const { body } = await server.api.get('/v2/integrations/demo/runs');
  const [streamed, first] = body.items;
  assert.equal(first.usageRequestId, 'hello-1');
  assert.equal(streamed.chatId, first.chatId);
  assert.equal(stdout, streamed.message);
});
