import { test } from 'node:test';
import { count } from '@runwire/test-kit/scale.ts';
import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import { cites } from '../requirements/cite.ts';
import * as schema from './support/open-responses.ts';
import { RUN_KINDS } from './support/openai-runs.ts';
import { openaiClient, readAll, team } from './support/openai-team.ts';
import { play } from './support/play.ts';
import { ScriptedServer } from './support/scripted-server.ts';

test('every event and every answer has the fields of Open Responses', async (t) => {
  cites(t, 'compatible-20-responses-object');
  await using rig = await ScriptedServer.start({ agencies: { team } });
  const { client, baseURL, apiKey } = await openaiClient(rig, { clientTools: true });
  let events = 0;
  let answers = 0;
  for (const { name, turns, body } of RUN_KINDS) {
    play(rig, turns);
    const request = await body(client);
    const read = await readAll(await client.responses.create({ ...request, stream: true }));
    for (const event of read.events) {
      expectEqual(`${name}: problems of ${event.type}`, schema.event(event, 'event'), []);
      events += 1;
    }
    const headers = { authorization: `Bearer ${apiKey}` };
    const stored = await (await fetch(`${baseURL}/responses/${read.response.id}`, { headers })).json();
    expectEqual(`${name}: problems of the stored response`, schema.response(stored, 'response'), []);
    expectEqual(`${name}: the stored response`, stored, read.response);
    for await (const item of client.responses.inputItems.list(read.response.id)) {
      expectEqual(`${name}: problems of an input item`, schema.item(item, 'item'), []);
      answers += 1;
    }
    answers += 1;
  }
  count({ events, answers, differences: schema.DIFFERENCES.length });
});
