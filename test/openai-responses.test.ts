import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { STORES, type StoreName, TEST_API_KEY } from '@runwire/test-kit';
import OpenAI from 'openai';
import { calls, play, say } from './support/play.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { team } from './support/openai-team.ts';

/* The official client, unchanged, against the Responses API. */

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { team } });
  const open = async (fields: object = {}) => {
    const id = await rig.integration({ agency: 'team', ...fields });
    const baseURL = `${rig.server.url}/v2/integrations/${id}/openai/v1`;
    return { id, client: new OpenAI({ baseURL, apiKey: TEST_API_KEY }) };
  };

  test('streams a text', async () => {
    const { client } = await open();
    play(rig, { Lead: [say('Hello.')] });
    const stream = client.responses.stream({ model: 'Lead', input: 'Hi' });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    const response = await stream.finalResponse();
    assert.equal(response.output_text, 'Hello.');
    assert.deepEqual(types, ['response.created']);
    assert.deepEqual(await client.responses.retrieve(response.id), response);
  });

  test('answers with one object', async () => {
    const { client } = await open();
    play(rig, { Lead: [calls(['c1', 'clock', {}]), say('Noon.')] });
    const response = await client.responses.create({ input: 'Hi' });
    assert.equal(response.output_text, 'Noon.');
    assert.deepEqual(response, {});
  });
}
