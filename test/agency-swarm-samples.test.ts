import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer, TEST_API_KEY } from '@runwire/test-kit';
import { listSamples, paste, run } from './support/doc-samples.ts';
import { missingService, PYTHON } from './support/services.ts';

/* The samples of docs/agency-swarm-clients.md. */

const page = 'docs/agency-swarm-clients.md';

test('the commands of docs/agency-swarm-clients.md get metadata, an answer and a stream', async (t) => {
  await using server = await startTestServer();
  const [commands = ''] = listSamples(page, 'sh');
  const printed = await paste(t, commands, { URL: server.url, KEY: TEST_API_KEY });
  assert.match(printed, /"agencyName":"Demo"/);
  assert.match(printed, /\n\{"response":"/);
  assert.match(printed, /event: messages\n[\s\S]*event: end\ndata: \[DONE\]\n/);
});

test('the client of docs/agency-swarm-clients.md keeps the history itself', {
  skip: (await missingService('python')) ?? false,
}, async () => {
  await using server = await startTestServer();
  const [client = ''] = listSamples(page, 'python');
  const { stdout } = await run(PYTHON, ['-c', client], {
    env: { PATH: process.env.PATH, URL: server.url, KEY: TEST_API_KEY },
  });
  const { body } = await server.api.get('/v2/integrations/demo/runs');
  const texts = body.items.map(({ message }: { message: string }) => message).reverse();
  assert.equal(stdout, `${texts.join('\n')}\n`);
});
