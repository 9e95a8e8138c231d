import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fastify } from 'fastify';
import { registerOpenApi } from './openapi.ts';

test('a failed OpenAPI document is made again at the next request, then kept', async () => {
  let asked = 0;
  const publicUrl = () => {
    asked += 1;
    if (asked === 1) throw new Error('It does not listen yet.');
    return 'https://agents.example.com';
  };
  const app = fastify();
  registerOpenApi(app, { publicUrl, stagingUrl: null }, { messageCharacters: 10 });
  await assert.rejects(app.describe(), /It does not listen yet/);
  const made = await app.describe();
  assert.deepEqual(made.servers, [{ url: 'https://agents.example.com' }]);
  assert.equal(await app.describe(), made);
});
