import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { TEST_API_KEY } from '@runwire/test-kit';
import { type Fault, FaultyProxy, type ProxiedRequest } from '@runwire/test-kit/faulty-proxy.ts';
import { Relay } from '@runwire/test-kit/relay.ts';
import { PYTHON_CLIENTS, Python, QUICK } from './support/python.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

describe('the Python client behind a proxy', { skip: (await missingService('python')) ?? false }, () => {
  const rig = ScriptedServer.shared();
  const python = Python.shared();
  let integration = '';
  beforeEach(async () => {
    rig.controller.onCall = null;
    integration = await rig.integration();
  });

  for (const kind of PYTHON_CLIENTS) describe(kind, () => recovers(kind));

  function recovers(kind: string): void {
    const given = (more: object = {}) => ({ kind, url: rig.server.url, key: TEST_API_KEY, integration, ...more });
    const run = <T>(code: string, more: object = {}) => python.run<T>(code, given(more));
    const fail = (code: string, more: object = {}) =>
      python.fail(code, given({ timing: { give_up_seconds: 0 }, ...more }));
    const usage = async () => (await rig.api.get(`/v2/integrations/${integration}/usage`)).body.items;

    /** The requests' faults in their order; the others pass. */
    const disturbed = async (code: string, ...faults: readonly (Fault | null)[]) => {
      await using proxy = await FaultyProxy.start(rig.server.url);
      const requests: string[] = [];
      proxy.plan = ({ method, path }: ProxiedRequest) => {
        requests.push(`${method} ${path.replace(/^\/v2\/integrations\/[^/]+|\?.*$|run_\w+/g, '')}`);
        return faults[requests.length - 1] ?? null;
      };
      const value = await run(code, { url: proxy.url, timing: QUICK });
      return { value, requests };
    };
    const POST = 'POST /get_completion_v2';
    const STATUS = 'GET /chat_status';
    const EVENTS = 'GET /runs//events';
    const START = 'return await (await client.run("Hi")).text()';

    const CASES: readonly (readonly [string, readonly (Fault | null)[], readonly string[]])[] = [
      ['a refused connection', [{ kind: 'refuse' }], [POST, STATUS, POST]],
      ['a request that was cut', [{ kind: 'cut-request', afterBytes: 250 }], [POST, STATUS, POST]],
      ['an answer that never arrived', [{ kind: 'cut-answer', afterBytes: 0 }], [POST, STATUS, EVENTS]],
      ['headers that were cut', [{ kind: 'cut-answer', afterBytes: 100 }], [POST, STATUS, EVENTS]],
      ['502 without a run', [{ kind: 'bad-gateway', late: false }], [POST, STATUS, POST]],
      ['502 with a run', [{ kind: 'bad-gateway', late: true }], [POST, STATUS, EVENTS]],
      ['silence before the answer', [{ kind: 'silence', afterBytes: 0 }], [POST, STATUS, EVENTS]],
      ['a stream that was cut', [{ kind: 'cut-answer', afterBytes: 900 }], [POST, EVENTS]],
      ['an end without `end`', [{ kind: 'cut-answer', afterBytes: 900, clean: true }], [POST, EVENTS]],
      ['a silent stream', [{ kind: 'silence', afterBytes: 900 }], [POST, EVENTS]],
      ['bytes one by one', [{ kind: 'drip' }], [POST]],
      [
        'faults of the recovery itself',
        [
          ...([
            { kind: 'refuse' },
            { kind: 'bad-gateway', late: true },
            { kind: 'cut-answer', afterBytes: 300 },
          ] as const),
          ...([null, { kind: 'cut-answer', afterBytes: 1000 }, { kind: 'refuse' }] as const),
        ],
        [POST, STATUS, STATUS, STATUS, POST, EVENTS, EVENTS],
      ],
    ];
    for (const [name, faults, expected] of CASES) {
      test(`survives ${name}`, async () => {
        rig.controller.answerAll('One é\u{1F600} ', 'two ', 'three.');
        const { value, requests } = await disturbed(START, ...faults);
        assert.equal(value, 'One é\u{1F600} two three.');
        assert.deepEqual(requests, expected);
        assert.deepEqual(
          (await usage()).map(({ status }: { status: string }) => status),
          ['completed'],
          'one run',
        );
      });
    }

    test('replaces a blank id by a new one, so that a lost answer starts no second run', async () => {
      rig.controller.answerAll('Hello');
      const code = 'return await (await client.run("Hi", usage_request_id=" ")).text()';
      const { requests } = await disturbed(code, { kind: 'cut-answer', afterBytes: 0 });
      assert.deepEqual(requests, [POST, STATUS, EVENTS]);
      assert.equal((await usage()).length, 1);
    });

    /** An answer of the proxy. */
    const answer = (status: string, headers: readonly string[], body: string, late = false): Fault => ({
      ...{ kind: 'answer', late },
      text: [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n'),
    });

    test('asks the chat status after a refusal of a later send', async () => {
      rig.controller.answerAll('Hello');
      const refusal = '{"error":"Busy.","code":"unavailable"}';
      const { value, requests } = await disturbed(
        START,
        ...([{ kind: 'bad-gateway', late: false }, null] as const),
        answer('503 Busy', ['X-Agent-Run-Admitted: false', 'Retry-After: 1'], refusal, true),
      );
      assert.equal(value, 'Hello');
      assert.deepEqual(requests, [POST, STATUS, POST, STATUS, EVENTS]);
    });

    test('a 4xx of a proxy starts no run, and is not repeated', async () => {
      await using proxy = await FaultyProxy.start(rig.server.url);
      proxy.plan = ({ method }) => (method === 'POST' ? answer('413 Too Large', [], '<h1>413</h1>') : null);
      const error = await fail('await client.run("Hi")', { url: proxy.url });
      assert.deepEqual([error.code, error.status, error.admitted], ['unexpected_answer', 413, false]);
    });

    test('does not retry a used-up allowance that is never reset', async () => {
      const below = `/v2/integrations/${integration}`;
      await rig.api.patch(below, { allowances: { unit: 'runs', limit: 1, period: 'lifetime' } });
      await rig.api.put(`${below}/members/ann`, {});
      rig.controller.answerAll('Hello');
      const code = `
      await (await client.run("Hi", consumer_id="ann")).text()
      try:
          await client.run("Hi", consumer_id="ann")
      except AllowanceExhaustedError as error:
          return [error.reset_at, error.retryable, error.admitted]
    `;
      const { value, requests } = await disturbed(code);
      assert.deepEqual(value, [null, false, false]);
      assert.deepEqual(requests, [POST, POST]);
    });

    test('does not follow redirects', async () => {
      await using proxy = await FaultyProxy.start(rig.server.url);
      proxy.plan = () => answer('302 Found', [`Location: ${rig.server.url}`], '');
      const error = await fail('await client.run("Hi")', { url: proxy.url });
      assert.deepEqual([error.code, error.status, error.admitted], ['unexpected_answer', 302, 'unknown']);
      assert.match(error.message, /It redirects to .*; redirects are not followed\./);
    });

    test('leaves void text out', async () => {
      const speaker = '"type":"raw_response_event","agent":"A","callerAgent":null';
      const text = (id: number, delta: string) =>
        `id: ${id}\ndata: {"data":{${speaker},"data":{"type":"response.output_text.delta","item_id":"m","delta":"${delta}"}}}`;
      const resumed = 'id: 9\nevent: resumed\ndata: {"run_id":"run_1","attempt":2,"discard_after":2}';
      const frames = [text(2, 'Kept. '), text(3, 'Void.'), resumed, text(10, 'New.'), ''].join('\n\n');
      const headers = ['X-Agent-Run-Admitted: true', 'X-Run-Id: run_1', 'Content-Type: text/event-stream'];
      const { value } = await disturbed(
        `
      run, seen = await client.run("Hi"), []
      async for event in run:
          seen.append(run.current_text)
          if event.id == 10:
              return seen
      `,
        answer('200 OK', headers, frames),
      );
      assert.deepEqual(value, ['Kept. ', 'Kept. Void.', 'Kept. ', 'Kept. New.']);
    });

    test('survives an end of the connection anywhere in the headers', async () => {
      rig.controller.answerAll('Whole.');
      await using proxy = await FaultyProxy.start(rig.server.url);
      let posts = 0;
      proxy.plan = ({ method }) => {
        if (method !== 'POST') return null;
        posts += 1;
        // Close enough to cut within the run's id.
        return { kind: 'cut-answer', afterBytes: 15 * posts, clean: true };
      };
      const texts = await run<string[]>('return [await (await client.run("Hi")).text() for _ in range(40)]', {
        ...{ url: proxy.url, timing: QUICK },
      });
      assert.deepEqual(texts, Array(40).fill('Whole.'));
      assert.equal((await usage()).length, 40);
    });

    test('raises the loss of the connection with a handle that attaches', async () => {
      const code = `
      losses = []
      for message in ["lost", "cut"]:
          try:
              await (await client.run(message, usage_request_id=message)).text()
          except ConnectionLostError as error:
              losses.append([error.code, error.admitted, error.retryable, error.__cause__ is not None, error.handle])
      return losses
    `;
      await using proxy = await FaultyProxy.start(rig.server.url);
      proxy.plan = ({ method, body, path }) => {
        if (method === 'POST' && body.includes('"cut"')) return { kind: 'cut-answer', afterBytes: 900 };
        return path.includes('chat_status') || method === 'POST'
          ? { kind: 'refuse' }
          : { kind: 'bad-gateway', late: false };
      };
      rig.controller.answerAll('One ', 'two.');
      const losses = await run<unknown[][]>(code, { url: proxy.url, timing: { ...QUICK, give_up_seconds: 0.3 } });
      const handles = losses.map((loss) => loss.pop() as Record<string, unknown>);
      assert.deepEqual(losses, [
        ['connection_lost', 'unknown', true, true],
        ['connection_lost', true, true, true],
      ]);
      assert.equal(handles[0]?.runId, null);
      assert.equal(handles[0]?.usageRequestId, 'lost');
      assert.equal(await run('return await (await client.attach(handle)).text()', { handle: handles[1] }), 'One two.');
      assert.equal((await usage()).length, 1);
    });

    test('reports compacted events', async () => {
      // Every run counts as old, even if other tests of this process have moved the clock of ids ahead.
      const logMs = -100 * 365 * 86_400_000;
      await using quick = await ScriptedServer.start({ limits: { logMs } });
      quick.controller.answerAll('One ', 'two ', 'three ', 'four.');
      const own = { url: quick.server.url, integration: 'demo' };
      const handle = await run<object>('run = await client.run("Hi")\nawait run.text()\nreturn run.handle', own);
      await quick.server.server.probes.sweepEvents();
      const old = await fail('await (await client.attach(handle, after=3)).text()', { ...own, handle });
      assert.deepEqual([old.class, old.status, old.admitted], ['CursorTooOldError', 410, true]);
      assert.equal(
        await run('return await (await client.attach(handle)).text()', { ...own, handle }),
        'One two three four.',
      );
    });

    test('continues after the last event when a relay was cut', async () => {
      await using relay = await Relay.start(rig.server.url);
      const reading = run<[string[], string]>(
        `
      run = await client.run("Go.")
      return [[event.delta async for event in run if event.type == "text"], await run.text()]
      `,
        { url: relay.url },
      );
      const call = await rig.controller.nextCall();
      await call.text('One ');
      relay.cut();
      await call.text('two ');
      await relay.cameBack();
      relay.mend();
      await call.text('three.');
      await call.end();
      assert.deepEqual(await reading, [['One ', 'two ', 'three.'], 'One two three.']);
    });
  }
});
