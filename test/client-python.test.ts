import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, type TestContext, test } from 'node:test';
import { createServer } from 'node:tls';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { type ErrorEntry, errors } from '@runwire/contract';
import { signForm, TEST_API_KEY, uploadKey } from '@runwire/test-kit';
import { type Fault, FaultyProxy } from '@runwire/test-kit/faulty-proxy.ts';
import { testCertificate } from '@runwire/test-kit/test-certificate.ts';
import { calls, play, say } from './support/play.ts';
import { PYTHON_CLIENTS, Python, QUICK } from './support/python.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';
import { download, sign } from './support/uploads.ts';

const refunded: unknown[] = [];
const schema = { type: 'object' } as const;
const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  inputSchema: schema,
  needsApproval: true,
  execute: (input) => {
    refunded.push(input);
    return 'refunded';
  },
});
const position = defineTool({ name: 'position', description: 'Tells where the user is.', inputSchema: schema });
const count = defineTool({
  name: 'count',
  description: 'Counts.',
  inputSchema: schema,
  execute: (_, { progress }) => {
    progress('1 of 2');
    return 'counted';
  },
});
const shop = defineAgency({
  name: 'Shop',
  agents: [
    defineAgent({
      ...{ name: 'Lead', description: 'Leads.', instructions: 'You are Lead.', files: false },
      tools: [refund, position, count],
    }),
  ],
});

const SECRET = 'a-secret-for-tests-0123456789-0123456789';
const NO_RETRY = { give_up_seconds: 0 };

describe('the Python client', { skip: (await missingService('python')) ?? false }, () => {
  const rig = ScriptedServer.shared({ agencies: { shop }, env: { RUNWIRE_SECRET: SECRET } });
  const python = Python.shared();
  let integration = '';
  beforeEach(async () => {
    rig.controller.onCall = null;
    integration = await rig.integration({ agency: 'shop' });
  });

  test('knows the codes, statuses and classes of the error table, and no others', async () => {
    const table = Object.entries<ErrorEntry>(errors).flatMap(
      ([code, { status, completionStatus, retryable, inStream }]) => {
        const entry = { code, retryable };
        const statuses = [...new Set([status, completionStatus ?? status])].filter((each) => each !== null);
        return [
          ...statuses.map((each) => ({ ...entry, status: each })),
          ...(inStream ? [{ ...entry, status: null }] : []),
        ];
      },
    );
    const { wrong, unused } = await python.run<{ wrong: unknown[]; unused: string[] }>(
      `
      wrong, used = [], set()
      for entry in table:
          code, status = entry["code"], entry["status"]
          if status is None:
              error = {"code": code, "message": "It failed."}
              raised = RunFailedError(RunResult("r", "c", "failed", "", None, [], [], {}, error, []))
          else:
              raised = errors.class_for(code, status)(code, "No.", status=status)
          used.add(type(raised).__name__)
          if raised.retryable is not entry["retryable"]:
              wrong.append(entry)
      unknown = [code for code in [*errors._BY_CODE, *errors._RETRYABLE] if code not in [e["code"] for e in table]]
      classes = {kind.__name__ for kind in RunwireError.__subclasses__()}
      return {"wrong": wrong + unknown, "unused": sorted(classes - used)}
      `,
      { table },
    );
    assert.deepEqual(wrong, ['connection_lost'], 'a code of the client itself');
    assert.deepEqual(unused, [
      'ConnectionLostError',
      'DetachedError',
      'QuestionsPendingError',
      'RunCancelledError',
      'UploadError',
      'WebhookVerificationError',
    ]);
  });

  for (const kind of PYTHON_CLIENTS) describe(kind, () => works(kind));

  function works(kind: string): void {
    const given = (more: object = {}) => ({ kind, url: rig.server.url, key: TEST_API_KEY, integration, ...more });
    const run = <T>(code: string, more: object = {}) => python.run<T>(code, given(more));
    const fail = (code: string, more: object = {}) => python.fail(code, given({ timing: NO_RETRY, ...more }));
    const usage = async () => (await rig.api.get(`/v2/integrations/${integration}/usage`)).body.items;

    /** The fields of a form that the server signed long ago. */
    async function expiredForm(): Promise<Record<string, string>> {
      const { uploadFields } = await sign(rig.api, 9, { apiIntegrationId: integration });
      const number = Number(/^runwire-(\d+)\//.exec(uploadFields['x-amz-credential'] ?? '')?.[1]);
      const now = Date.now();
      const terms = { bucket: integration, key: 'u/a.bin', contentType: 'application/octet-stream', sizeBytes: 9 };
      return signForm({ ...terms, signedAt: now - 900_001, expiresAt: now - 1 }, uploadKey(SECRET, number));
    }

    test('reads a run as typed events, twice, with any text', async () => {
      rig.controller.answerAll('é\u{1F600}\u2028', '\r\n "x" ', 'end');
      interface Reading {
        readonly types: readonly string[];
        readonly again: readonly string[];
        readonly text: string;
        readonly current: string;
        readonly frames: readonly (string | null)[];
        readonly admission: { readonly run_id: string; readonly chat_id: string; readonly replayed: boolean };
        readonly handle: Readonly<Record<string, unknown>>;
      }
      const { types, again, text, current, frames, admission, handle } = await run<Reading>(`
      run = await client.run("Grüße \\N{GRINNING FACE}", chat_id="c 1/é", consumer_id=None, user_context={"plan": "pro"})
      types = [event.type async for event in run]
      again = [event.type async for event in run]
      frames = [frame.event async for frame in run.frames()]
      return {"types": types, "again": again, "text": await run.text(), "current": run.current_text, "frames": frames,
              "admission": run.admission, "handle": run.handle}
    `);
      assert.deepEqual(types, ['started', 'text', 'text', 'text', 'ended']);
      assert.deepEqual(again, types);
      assert.equal(text, 'é\u{1F600}\u2028\r\n "x" end');
      assert.equal(current, text);
      assert.deepEqual(frames.slice(-2), ['messages', 'end']);
      const { run_id: runId, chat_id: chatId, replayed } = admission;
      assert.deepEqual([chatId, replayed], ['c 1/é', false]);
      assert.deepEqual([handle.runId, handle.chatId, handle.apiIntegrationId], [runId, 'c 1/é', integration]);
      assert.equal(rig.controller.calls.at(-1)?.request.runId, runId);
    });

    test('answers questions with tools and decisions', async () => {
      refunded.length = 0;
      const turns = [calls(['a', 'position', {}], ['b', 'refund', { cents: 5 }]), say('Done.')];
      play(rig, { Lead: turns });
      interface Outcome {
        readonly events: readonly string[];
        readonly failed: readonly unknown[];
        readonly text: string;
        readonly result: { readonly pending: readonly unknown[] };
      }
      const { events, failed, text, result } = await run<Outcome>(`
      async def position(arguments, question):
          raise ValueError("no signal")
      async def approve(question):
          return Decision(question.arguments["cents"] < 10, "small")
      run = await client.run("Go.", usage_request_id="q", tools={"position": position}, on_approval=approve)
      events = [event async for event in run]
      failed = sorted([event.call_id, event.failed] for event in events if event.type == "tool_output")
      return {"events": [event.type for event in events], "failed": failed, "text": await run.text(), "result": await run.result()}
    `);
      assert.deepEqual(failed, [
        ['a', true],
        ['b', false],
      ]);
      assert.deepEqual(refunded, [{ cents: 5 }]);
      assert.equal(text, 'Done.');
      assert.deepEqual(result.pending, []);
      assert.equal(events.filter((type) => type === 'question').length, 2);
      const outputs = rig.controller.calls
        .at(-1)
        ?.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
      assert.match(String(outputs), /no signal/);
      assert.deepEqual((await usage()).map((item: { usageRequestId: string }) => item.usageRequestId).sort(), [
        'q',
        'q~2',
      ]);
    });

    test('leaves a question open that has no answer here, and has no text', async () => {
      play(rig, { Lead: [calls(['a', 'position', {}])] });
      const pending = await run<{ tool: string; kind: string }[]>(
        'return (await (await client.run("Go.")).result()).pending',
      );
      assert.deepEqual(
        pending.map(({ tool, kind }) => [tool, kind]),
        [['position', 'tool']],
      );
      play(rig, { Lead: [calls(['a', 'position', {}])] });
      const code = `
      try:
          await (await client.run("Go.", on_approval=lambda question: True)).text()
      except QuestionsPendingError as error:
          return [error.code, error.admitted, error.pending == error.result.pending, [asked.tool for asked in error.pending]]
    `;
      assert.deepEqual(await run(code), ['questions_pending', true, true, ['position']]);
    });

    test('reads the progress of a tool', async () => {
      play(rig, { Lead: [calls(['a', 'count', {}]), say('Done.')] });
      const seen = await run(`
      run = await client.run("Go.")
      return [[event.call_id, event.text, isinstance(event, ToolProgress)] async for event in run
              if event.type == "tool_progress"]
    `);
      assert.deepEqual(seen, [['a', '1 of 2', true]]);
    });

    test('cancels a run while it is read, and keeps its text', async () => {
      rig.controller.onCall = (call) => void call.text('Half');
      const { cancelled, error } = await run<Record<string, Record<string, unknown>>>(`
      run = await client.run("Go.")
      async def cancel():
          cancelled.append(await run.cancel(mode="immediate"))
      cancelled = []
      async for event in run:
          if event.type == "text" and inspect.iscoroutinefunction(cancel):
              cancelling = asyncio.ensure_future(cancel())
          elif event.type == "text":
              cancelling = threading.Thread(target=cancel)
              cancelling.start()
      if isinstance(cancelling, asyncio.Future):
          await cancelling
      else:
          cancelling.join()
      try:
          await run.text()
      except RunCancelledError as error:
          return {"cancelled": cancelled[0], "error": {"code": error.code, "text": error.result.text}}
    `);
      assert.equal(cancelled?.status, 'cancelled');
      assert.deepEqual(error, { code: 'run_cancelled', text: 'Half' });
    });

    test('raises the error of a failed run', async () => {
      rig.controller.onCall = (call) => void call.text('So far').then(() => call.fail('model_error', 'It broke.'));
      const error = await fail('await (await client.run("Go.")).text()');
      assert.deepEqual(
        [error.class, error.code, error.retryable, error.admitted, error.status],
        ['RunFailedError', 'model_error', true, true, null],
      );
      assert.equal((error.result as { text: string }).text, 'So far');
    });

    test('detaches without cancelling, and attaches by the handle, also after the end', async () => {
      const reading = run<Record<string, unknown>>(`
      run = await client.run("Go.")
      kinds = []
      async def stop():
          async for event in run:
              if event.type == "text":
                  run.detach()
      try:
          await stop()
      except DetachedError as error:
          kinds.append([error.code, error.admitted, error.handle == run.handle])
      return {"kinds": kinds, "handle": run.handle}
    `);
      const call = await rig.controller.nextCall();
      await call.text('One ');
      const { kinds, handle } = await reading;
      assert.deepEqual(kinds, [['detached', true, true]]);
      const attached = run<[string, string, string, string]>(
        `
      first = await client.attach(handle)
      text = await first.text()
      unnamed = await client.attach({**handle, "runId": None})
      late = await client.attach(handle, after=first.handle["lastEventId"])
      partly = await client.attach(handle, after=handle["lastEventId"])
      return [text, await unnamed.text(), await late.text(), await partly.text()]
      `,
        { handle },
      );
      await call.text('two.');
      await call.end();
      assert.deepEqual(await attached, Array(4).fill('One two.'));
    });

    test('detaches a reader that waits', async () => {
      const code = `
        run = await client.run("Go.")
        async def read():
            async for event in run:
                pass
        def later(seconds, call):
            threading.Timer(seconds, call).start()
        if inspect.iscoroutinefunction(read):
            later = asyncio.get_running_loop().call_later
        later(0.2, run.detach)
        await read()
      `;
      const error = await fail(code);
      assert.deepEqual([error.class, error.code, error.admitted], ['DetachedError', 'detached', true]);
    });

    test('reads why a server refuses an upload before its end', async (t) => {
      const storage = createTcpServer((socket) => {
        const answer = '<Code>EntityTooLarge</Code><Message>Too large.</Message>';
        socket.once('data', () => socket.end(`HTTP/1.1 413 No\r\nContent-Length: ${answer.length}\r\n\r\n${answer}`));
        socket.on('error', () => {});
      });
      t.after(() => storage.close());
      await new Promise<void>((resolve) => storage.listen(0, '127.0.0.1', resolve));
      await using proxy = await FaultyProxy.start(rig.server.url);
      const { port } = storage.address() as { port: number };
      const form = { uploadUrl: `http://127.0.0.1:${port}/`, uploadFields: { key: 'a' }, resource: '/app/mnt/u/a.bin' };
      proxy.plan = () => jsonAnswer(form);
      const code = 'await client.upload(io.BytesIO(b"x" * 8_000_000), folder="/app/mnt/u", name="a.bin")';
      const error = await fail(code, { url: proxy.url });
      assert.equal(error.message, 'The storage refused the file with status 413. EntityTooLarge: Too large.');
    });

    test('uploads a file with progress, and passes it to a run', async (t) => {
      const folder = getFolder(t);
      const bytes = Buffer.alloc(150_000, 'é\r\n--x');
      const path = join(folder, 'brief "ö".txt');
      writeFileSync(path, bytes);
      const { file, progress, open } = await run<Record<'file' | 'progress' | 'open', unknown>>(
        `
      progress = []
      file = await client.upload(path, folder="/app/mnt/u", on_progress=lambda sent, total: progress.append([sent, total]))
      rest = io.BytesIO(b"skipped rest")
      rest.seek(8)
      open = await client.upload(rest, folder="/app/mnt/u", name="rest.bin")
      return {"file": file, "progress": progress, "open": open}
      `,
        { path },
      );
      const name = 'brief "ö".txt';
      assert.deepEqual(file, { name, path: `/app/mnt/u/${name}` });
      assert.deepEqual(progress, [
        [65_536, 150_000],
        [131_072, 150_000],
        [150_000, 150_000],
      ]);
      assert.deepEqual(open, { name: 'rest.bin', path: '/app/mnt/u/rest.bin' });
      assert.equal(await (await download(rig.api, '/app/mnt/u/rest.bin', integration)).text(), 'rest');
      const stored = await download(rig.api, `/app/mnt/u/${name}`, integration);
      assert.ok(Buffer.from(await stored.arrayBuffer()).equals(bytes));
      assert.match(stored.headers.get('content-type') ?? '', /^text\/plain/);
      rig.controller.answerAll('Read.');
      assert.equal(
        await run('return await (await client.run("Read it.", sandbox_files=[file])).text()', { file }),
        'Read.',
      );
    });

    test('signs an expired form again once, and sends a file again if the connection breaks', async () => {
      await using proxy = await FaultyProxy.start(rig.server.url);
      const posted: number[] = [];
      proxy.plan = ({ path }) => {
        if (!path.startsWith('/uploads/')) return null;
        posted.push(posted.length);
        return posted.length === 1 ? { kind: 'cut-request', afterBytes: 2000 } : null;
      };
      const code = 'return (await client.upload(io.BytesIO(b"x" * 9000), folder="/app/mnt/u", name="a.bin"))["path"]';
      assert.equal(await run(code, { url: proxy.url, timing: QUICK }), '/app/mnt/u/a.bin');
      assert.equal(posted.length, 2);
      const form = await sign(rig.api, 9000, {
        apiIntegrationId: integration,
        folder: '/app/mnt/u',
        filename: 'a.bin',
      });
      const expired = jsonAnswer({ ...form, uploadFields: await expiredForm() });
      let signed = 0;
      const expireFirst = (old: number) => {
        signed = 0;
        proxy.plan = ({ path }) => {
          if (path !== '/create_agency_upload') return null;
          signed += 1;
          return signed <= old ? expired : null;
        };
      };
      expireFirst(1);
      assert.equal(await run(code, { url: proxy.url, timing: QUICK }), '/app/mnt/u/a.bin');
      assert.equal(signed, 2);
      expireFirst(2);
      const refused = await fail(code, { url: proxy.url });
      assert.deepEqual([refused.class, refused.code, refused.status], ['UploadError', 'upload_failed', 403]);
      assert.match(refused.message, /^The storage refused the file with status 403\. AccessDenied: .*expired/);
    });

    test('has a class for each refusal that callers tell apart', async () => {
      const seen = async (code: string, more: object = {}) => {
        const error = await fail(code, more);
        return [error.class, error.code, error.status, error.admitted];
      };
      const start = 'await (await client.run("Hi")).text()';
      assert.deepEqual(await seen(start, { key: 'wrong' }), ['AuthenticationError', 'invalid_api_key', 401, false]);
      assert.deepEqual(await seen(start, { integration: 'none' }), [
        'NotFoundError',
        'integration_not_found',
        404,
        false,
      ]);
      const wrong = 'await client.run("Hi", agent="Nobody")';
      assert.deepEqual(await seen(wrong), ['InvalidRequestError', 'unknown_agent', 400, false]);
      const lone = 'await client.run("\\ud800")';
      assert.deepEqual(await seen(lone), ['InvalidRequestError', 'invalid_request', 400, false]);
      const handle = {
        apiIntegrationId: integration,
        usageRequestId: 'none',
        runId: null,
        chatId: null,
        lastEventId: 0,
      };
      assert.deepEqual(await seen('await client.attach(handle)', { handle }), [
        'NotFoundError',
        'run_not_found',
        404,
        'unknown',
      ]);
      const { api: other } = await rig.owner(`${kind}@example.com`);
      const foreign = { key: other.authorization.authorization?.slice('Bearer '.length) };
      assert.deepEqual(await seen(start, foreign), ['ForbiddenError', 'integration_forbidden', 403, false]);
      const metered = await rig.metered({ unit: 'runs', limit: 0, period: 'lifetime' }, { agency: 'shop' });
      const member = 'await client.run("Hi", consumer_id="ann")';
      assert.deepEqual(await seen(member, { integration: metered }), [
        ...['AllowanceExhaustedError', 'consumer_allowance_exhausted', 429, false],
      ]);
      await rig.member(metered, 'ann', { active: false });
      assert.deepEqual(await seen(member, { integration: metered }), [
        ...['MemberInactiveError', 'consumer_inactive', 429, false],
      ]);
    });

    test('sends a retryable refusal again until it is admitted', async () => {
      const held = await rig.hold({ apiIntegrationId: integration, chatId: 'c', message: 'First.' });
      const second = run('return await (await client.run("Second.", chat_id="c")).text()');
      const busy = await fail('await client.run("Third.", chat_id="c")');
      assert.deepEqual([busy.class, busy.code, busy.retryable], ['RunActiveError', 'run_active', true]);
      assert.equal(
        await python.run('return errors.RunActiveError("run_active", "", body=body).run_id', busy),
        held.runId,
      );
      await held.finish('One.');
      const call = await rig.controller.nextCall();
      await call.text('Two.');
      await call.end();
      assert.equal(await second, 'Two.');
    });

    test('speaks TLS, and refuses a certificate that it does not trust', async (t) => {
      const { ca, cert, key } = testCertificate(['localhost']);
      const tls = createServer({ cert, key }, (socket) => {
        const plain = connect(Number(new URL(rig.server.url).port), '127.0.0.1');
        socket.on('error', () => plain.destroy());
        plain.on('error', () => socket.destroy());
        socket.pipe(plain).pipe(socket);
      });
      t.after(() => tls.close());
      await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
      const { port } = tls.address() as { port: number };
      rig.controller.answerAll('Safe.');
      const url = `https://localhost:${port}`;
      const trusting = `
      context = ssl.create_default_context(cadata=ca)
      # The certificates of tests have only the most important fields.
      context.verify_flags &= ~ssl.VERIFY_X509_STRICT
      return await (await Client(url, key, integration, ssl_context=context).run("Hi")).text()
    `;
      assert.equal(await run(trusting, { url, ca }), 'Safe.');
      const error = await fail('await client.run("Hi")', { url });
      assert.deepEqual([error.class, error.admitted], ['ConnectionLostError', 'unknown']);
    });
  }
});

/** An answer that the proxy gives in place of the server. */
function jsonAnswer(value: object): Fault {
  const body = JSON.stringify(value);
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
  return { kind: 'answer', late: false, text: `${head}\r\n\r\n${body}` };
}

function getFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'runwire-python-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
