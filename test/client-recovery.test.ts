import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionLostError, CursorTooOldError, NotFoundError, RunActiveError, Runwire } from '@runwire/client';
import { TEST_API_KEY } from '@runwire/test-kit';
import { type ClientRequest, cut, disturbedClient, SHORT_TIMING } from './support/disturbed-fetch.ts';
import { ScriptedServer } from './support/scripted-server.ts';

/* The recovery of the TypeScript client, against the real server. */

const rig = ScriptedServer.shared();
const POST = 'POST /get_completion_v2';
const networkFailure = () => Promise.reject(new TypeError('fetch failed'));
const badGateway = async () => new Response('<h1>502 Bad Gateway</h1>', { status: 502 });

async function disturbed(disturb: (request: ClientRequest) => Promise<Response>, timing = {}) {
  const integration = await rig.integration({ agency: 'test' });
  const options = { integration, timing: { ...SHORT_TIMING, ...timing } };
  const { client, requests } = disturbedClient(rig.server.url, options, disturb);
  const listRuns = async () => (await rig.api.get(`/v2/integrations/${integration}/runs`)).body.items;
  return { client, requests, integration, listRuns, below: `/v2/integrations/${integration}` };
}

/** Answers every call of the model while the work is done. */
async function answering<T>(work: Promise<T>, ...pieces: string[]): Promise<T> {
  rig.controller.answerAll(...(pieces.length === 0 ? ['Hel', 'lo'] : pieces));
  return await work.finally(() => {
    rig.controller.onCall = null;
  });
}

for (const [what, lose] of [
  ['before the server got it', networkFailure],
  ['by a proxy that answers 502 itself', badGateway],
] as const) {
  test(`sends a request again that was lost ${what}`, async () => {
    const { client, requests, below, listRuns } = await disturbed(({ number, send }) =>
      number === 1 ? lose() : send(),
    );
    const run = client.run({ message: 'Hi', usageRequestId: 'u1' });
    assert.equal(await answering(run.text()), 'Hello');
    assert.deepEqual(requests, [POST, `GET ${below}/chat_status?usageRequestId=u1`, POST]);
    assert.equal((await listRuns()).length, 1);
    assert.equal((await run.admitted).replayed, false);
  });
}

for (const [what, lose] of [
  ['was lost', networkFailure],
  ['was replaced by a 502', badGateway],
] as const) {
  test(`attaches to a run whose answer ${what}`, async () => {
    const { client, requests, below, listRuns } = await disturbed(async ({ number, send }) => {
      const answer = await send();
      if (number !== 1) return answer;
      await answer.body?.cancel();
      return await lose();
    });
    const run = client.run({ message: 'Hi', usageRequestId: 'u1' });
    assert.equal(await answering(run.text()), 'Hello');
    const { runId } = run.handle;
    assert.deepEqual(requests, [
      POST,
      `GET ${below}/chat_status?usageRequestId=u1`,
      `GET ${below}/runs/${runId}/events`,
    ]);
    assert.deepEqual(
      (await listRuns()).map((one: { runId: string }) => one.runId),
      [runId],
    );
  });
}

test('a blank id is replaced by a new one, so that a lost answer starts no second run', async () => {
  for (const usageRequestId of ['', ' \n']) {
    const { client, listRuns } = await disturbed(async ({ number, send }) => {
      const answer = await send();
      if (number !== 1) return answer;
      await answer.body?.cancel();
      return await networkFailure();
    });
    assert.equal(await answering(client.run({ message: 'Hi', usageRequestId }).text()), 'Hello');
    assert.equal((await listRuns()).length, 1);
  }
});

test('asks the chat status after a refusal of a later send', async () => {
  const refusal = { error: 'Busy.', code: 'unavailable' };
  const { client, requests, below } = await disturbed(async ({ number, send }) => {
    if (number === 1) return await badGateway();
    if (number === 2) return Response.json({ error: 'None.', code: 'run_not_found' }, { status: 404 });
    // The first send arrives late, before the second's refusal.
    if (number === 3) {
      const answer = await send();
      await answer.body?.cancel();
      return Response.json(refusal, { status: 503, headers: { 'X-Agent-Run-Admitted': 'false', 'Retry-After': '1' } });
    }
    return await send();
  });
  const run = client.run({ message: 'Hi', usageRequestId: 'u1' });
  assert.equal(await answering(run.text()), 'Hello');
  const status = `GET ${below}/chat_status?usageRequestId=u1`;
  assert.deepEqual(requests.slice(0, 4), [POST, status, POST, status]);
});

test('finds the run of a stream without X-Run-Id by the chat status', async () => {
  const { client, requests, below } = await disturbed(async ({ number, send }) => {
    const answer = await send();
    if (number !== 1) return answer;
    const headers = new Headers(answer.headers);
    headers.delete('x-run-id');
    return cut(new Response(answer.body, { headers }), 1500);
  });
  const run = client.run({ message: 'Hi', usageRequestId: 'u1' });
  assert.equal(await answering(run.text(), 'One ', 'two ', 'three ', 'four.'), 'One two three four.');
  const { runId } = await run.admitted;
  assert.match(runId, /^run_/);
  const status = `GET ${below}/chat_status?usageRequestId=u1`;
  assert.deepEqual(requests, [POST, status, `GET ${below}/runs/${runId}/events`]);
});

for (const how of ['breaks', 'ends', 'falls silent'] as const) {
  test(`continues after the last event if the stream ${how}`, async () => {
    const after: (string | undefined)[] = [];
    const { client, requests } = await disturbed(
      async ({ method, headers, send }) => {
        after.push(headers['last-event-id']);
        const answer = await send();
        return method === 'POST' || after.length < 4 ? cut(answer, 1500, how) : answer;
      },
      // On a busy machine the first event may need longer than a short silence.
      how === 'falls silent' ? { silenceMs: 1000 } : {},
    );
    const run = client.run({ message: 'Hi' });
    const ids: number[] = [];
    const read = async () => {
      for await (const { id } of run.frames()) ids.push(id);
      return run.currentText;
    };
    assert.equal(await answering(read(), 'One ', 'two ', 'three ', 'four.'), 'One two three four.');
    assert.equal(requests.length, 4);
    assert.equal(after[0], undefined);
    assert.ok(after.slice(1).every((id) => Number(id) > 0));
    assert.deepEqual(
      ids,
      ids.map((_, index) => index + 1),
    );
    assert.equal(await run.text(), 'One two three four.');
  });
}

test('leaves void text out', async () => {
  const frames = [
    'id: 1\nevent: meta\ndata: {"run_id":"run_1","chatId":"c1","aliasChatId":null,"usageRequestId":"u1","consumerId":null,"agent":"A","createdAt":""}',
    ...['Kept. ', 'Void.'].map((delta, i) => toFrame(2 + i, delta)),
    'id: 1000000001\nevent: resumed\ndata: {"run_id":"run_1","attempt":2,"discard_after":2}',
    toFrame(1_000_000_002, 'New.'),
  ];
  const { client } = await disturbed(async ({ number }) =>
    number === 1
      ? new Response(`${frames.join('\n\n')}\n\n`, {
          headers: { 'X-Agent-Run-Admitted': 'true', 'X-Run-Id': 'run_1', 'Content-Type': 'text/event-stream' },
        })
      : await new Promise(() => {}),
  );
  const run = client.run({ message: 'Hi' });
  for await (const { id, type } of run) {
    if (id === 3) assert.ok(['Kept. Void.', 'Kept. New.'].includes(run.currentText));
    if (type === 'text' && id === 1_000_000_002) break;
  }
  assert.equal(run.currentText, 'Kept. New.');
  run.detach();
});

const toFrame = (id: number, delta: string) =>
  `id: ${id}\ndata: ${JSON.stringify({
    data: {
      ...{ type: 'raw_response_event', agent: 'A', callerAgent: null },
      data: { type: 'response.output_text.delta', item_id: 'm', delta },
    },
  })}`;

test('retries a refusal that is retryable, after Retry-After, and no other', async () => {
  const { client, requests } = await disturbed(({ send }) => send(), { giveUpMs: 3000 });
  const first = client.run({ message: 'Hi', chatId: 'c1' });
  await first.admitted;
  const busy = client.run({ message: 'Again', chatId: 'c1' });
  await assert.rejects(busy.text(), (error: unknown) => {
    assert.ok(error instanceof RunActiveError);
    assert.deepEqual([error.code, error.status, error.retryable, error.admitted], ['run_active', 409, true, false]);
    assert.equal(error.runId, first.handle.runId);
    assert.match(error.requestId ?? '', /^req_/);
    return true;
  });
  assert.ok(requests.filter((request) => request === POST).length > 3);
  const waiting = client.run({ message: 'Again', chatId: 'c1' });
  await answering(Promise.all([first.cancel(), waiting.text()]));

  requests.length = 0;
  await assert.rejects(client.run({ message: 'Hi', agent: 'No one' }).text(), {
    code: 'unknown_agent',
    admitted: false,
  });
  assert.deepEqual(requests, [POST]);
});

test('does not retry a used-up allowance that is never reset', async () => {
  const { client, requests, below } = await disturbed(({ send }) => send(), { giveUpMs: 5000 });
  await rig.api.patch(below, { allowances: { unit: 'runs', limit: 1, period: 'lifetime' } });
  await rig.api.put(`${below}/members/ann`, {});
  const ask = () => client.run({ message: 'Hi', consumerId: 'ann' }).text();
  await answering(ask());
  requests.length = 0;
  await assert.rejects(ask(), { name: 'AllowanceExhaustedError', resetAt: null, retryable: false, admitted: false });
  assert.deepEqual(requests, [POST]);
});

test('gives up after a time without contact, with a handle to attach by', async () => {
  const dead = await disturbed(networkFailure, { giveUpMs: 50 });
  const lost = dead.client.run({ message: 'Hi', usageRequestId: 'u1' });
  await assert.rejects(lost.text(), (error: unknown) => {
    assert.ok(error instanceof ConnectionLostError);
    assert.equal(error.admitted, 'unknown');
    assert.deepEqual([error.handle?.usageRequestId, error.handle?.runId], ['u1', null]);
    return true;
  });
  await assert.rejects(lost.admitted, ConnectionLostError);

  const { client, integration } = await disturbed(
    async ({ number, send }) => (number === 1 ? cut(await send(), 100) : await networkFailure()),
    // The server answered once, so the shorter limit for a first answer does not count.
    { giveUpMs: 50, connectMs: 0 },
  );
  const run = client.run({ message: 'Hi' });
  const error = await run.result().catch((thrown: unknown) => thrown);
  assert.ok(error instanceof ConnectionLostError);
  assert.match(error.message, /: fetch failed; attach to the run by its handle later\.$/);
  assert.equal(error.admitted, true);
  const later = new Runwire({ baseUrl: rig.server.url, apiKey: TEST_API_KEY, integration });
  const handle = JSON.parse(JSON.stringify(error.handle));
  assert.equal(await answering(later.attach(handle).text()), 'Hello');
});

test('an aborted signal and detach() stop the reader, never the run', async () => {
  const { client, integration } = await disturbed(({ send }) => send());
  const abort = new AbortController();
  const runs = [client.run({ message: 'One' }, { signal: abort.signal }), client.run({ message: 'Two' })];
  await Promise.all(runs.map((run) => run.admitted));
  abort.abort();
  runs[1]?.detach();
  await assert.rejects(async () => runs[0]?.text(), { name: 'AbortError' });
  await assert.rejects(async () => runs[1]?.text(), { code: 'detached', admitted: true });
  for (const run of runs) {
    const { body } = await rig.api.get(`/v2/integrations/${integration}/runs/${run.handle.runId}`);
    assert.ok(['admitted', 'running'].includes(body.status));
  }
  const texts = Promise.all(runs.map((run) => client.attach(run.handle).text()));
  assert.deepEqual(await answering(texts), ['Hello', 'Hello']);
});

test('attach reads after a cursor, ends at a 204, and reports what is gone', async () => {
  const { client } = await disturbed(({ send }) => send());
  const run = client.run({ message: 'Hi' });
  const result = await answering(run.result());
  const frames = await Array.fromAsync(run.frames());
  const tail = client.attach(run.handle, { after: 5 });
  assert.deepEqual(await Array.fromAsync(tail.frames()), frames.slice(5));
  assert.deepEqual(await tail.result(), result);
  const ended = client.attach(run.handle, { after: run.handle.lastEventId });
  assert.deepEqual(await Array.fromAsync(ended), []);
  assert.deepEqual(await ended.result(), result);
  const abort = new AbortController();
  const late = client.attach(run.handle, { after: run.handle.lastEventId, signal: abort.signal });
  await Array.fromAsync(late);
  abort.abort();
  await assert.rejects(late.result(), { name: 'AbortError' });
  for (const handle of [run.handle, { ...run.handle, runId: null }]) {
    const passedOn = await client.attach(handle, { after: run.handle.lastEventId }).toResponse();
    assert.deepEqual([passedOn.status, await passedOn.text()], [204, ''], 'there is no stream without `end`');
  }

  const unknown = client.attach({ ...run.handle, runId: null, usageRequestId: 'never' });
  await assert.rejects(unknown.text(), NotFoundError);
  const compacted = await disturbed(async () =>
    Response.json({ error: 'Compacted.', code: 'cursor_too_old' }, { status: 410 }),
  );
  await assert.rejects(compacted.client.attach(run.handle, { after: 5 }).text(), CursorTooOldError);
});

test('reads the events of a run in Text Only Mode', async () => {
  const integration = await rig.integration({ agency: 'test', textOnly: true });
  const client = new Runwire({ baseUrl: rig.server.url, apiKey: TEST_API_KEY, integration });
  assert.equal(await answering(client.run({ message: 'Hi' }).text()), 'Hello');
});
