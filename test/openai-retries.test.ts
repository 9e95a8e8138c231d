import { test } from 'node:test';
import { FaultyProxy } from '@runwire/test-kit/faulty-proxy.ts';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectEqual } from '@runwire/test-kit/shortfall.ts';
import OpenAI, { APIError } from 'openai';
import { cites } from '../requirements/cite.ts';
import { inLanes } from './support/lanes.ts';
import { openaiClient, type Post, readAll, team } from './support/openai-team.ts';
import { play, say, type Turn } from './support/play.ts';
import { ScriptedServer } from './support/scripted-server.ts';

/* What the official client does by itself when answers are lost or refused. */

const DROPS = [
  null,
  { kind: 'refuse' },
  { kind: 'cut-request', afterBytes: 100 },
  { kind: 'cut-answer', afterBytes: 0 },
  { kind: 'cut-answer', afterBytes: 700 },
  { kind: 'bad-gateway', late: true },
] as const;

test('requests with an Idempotency-Key are one run each, also if answers are lost', async (t) => {
  cites(t, 'compatible-20-openai-idempotency');
  const requests = scale(12, 500);
  await using rig = await ScriptedServer.start({ agencies: { team } });
  await using proxy = await FaultyProxy.start(rig.server.url);
  const id = await rig.integration({ agency: 'team', allowances: { unit: 'runs', limit: 100_000, period: 'month' } });
  await rig.member(id, 'ann');
  rig.controller.onCall = (call) => void say('Once.')(call);
  let posts = 0;
  proxy.plan = ({ method }) => {
    if (method !== 'POST') return null;
    posts += 1;
    return DROPS[posts % DROPS.length] ?? null;
  };
  const client = new OpenAI({
    baseURL: `${proxy.url}/v2/integrations/${id}/openai/v1`,
    apiKey: rig.api.apiKey ?? '',
    maxRetries: 2,
  });
  const lanes = Array.from({ length: requests }, (_, index) => [`request ${index}`, index] as const);
  await inLanes(16, lanes, async (index) => {
    const options = { headers: { 'Idempotency-Key': `key-${index}` } };
    const params = { input: 'Hi', safety_identifier: 'ann' };
    // A stream or a body that breaks is the caller's to repeat, with the same key.
    for (let isDone = false; !isDone; ) {
      try {
        const answer =
          index % 2 === 0
            ? await client.responses.create(params, options)
            : (await readAll(await client.responses.create({ ...params, stream: true }, options))).response;
        expectEqual(`request ${index}: status`, answer.status, 'completed');
        isDone = true;
      } catch (error) {
        if (error instanceof APIError && error.status !== undefined && error.status < 500) throw error;
      }
    }
  });
  const { used } = await rig.allowance(id);
  expectEqual('charges', used, requests);
  expectAtLeast('posts', posts, requests + 1);
  const calls = rig.controller.calls.length;
  expectEqual('model calls', calls, requests);
  count({ requests, runs: calls, charges: used, posts });
});

test('what must not be repeated is posted once', async (t) => {
  cites(t, 'compatible-20-openai-retry', 'compatible-20-responses-failed');
  await using rig = await ScriptedServer.start({ agencies: { team } });
  const { client, id, posts } = await openaiClient(rig, {
    allowances: { unit: 'runs', limit: 1, period: 'month' },
  });
  await rig.member(id, 'ann');
  const once = async (name: string, request: () => Promise<unknown>, expected: readonly (number | string | null)[]) => {
    posts.length = 0;
    const error = await request().then(
      () => null,
      (reason: unknown) => reason as APIError,
    );
    expectEqual(`${name}: posts`, posts.length, 1);
    const [post] = posts as [Post];
    expectEqual(`${name}: refusal`, [post.status, error?.code ?? null], expected);
    count({ refusals: 1 });
  };
  const create = (more: object) => () => client.responses.create({ input: 'Hi', safety_identifier: 'ann', ...more });
  await once('no input', create({ input: 5 }), [400, 'invalid_request']);
  await once('unknown model', create({ model: 'none' }), [404, 'model_not_found']);
  await once('unsupported field', create({ prompt: { id: 'p' } }), [400, 'unsupported_field']);
  await once('unknown member', create({ safety_identifier: 'bob' }), [404, 'member_not_found']);
  await once('no member', create({ safety_identifier: null }), [400, 'missing_allowance_attribution']);
  const fails: Turn = (call) => call.fail('model_error', 'The provider broke.');
  play(rig, { Lead: [fails, (call) => call.text('Half')] });
  await once('failed run', create({}), [200, null]);
  const { id: conversation } = await client.conversations.create({}, { headers: { 'X-Runwire-Consumer-Id': 'ann' } });
  const busy = await client.responses.create({
    input: 'Hi',
    safety_identifier: 'ann',
    conversation,
    background: true,
  });
  await once('allowance used up', create({}), [429, 'consumer_allowance_exhausted']);
  await once('busy chat', create({ conversation }), [409, 'run_active']);
  await client.responses.cancel(busy.id);
});
