import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { FakeProvider, providerEvents, STORES, type StoreName, sseText, startTestServer } from '@runwire/test-kit';
import { count } from '@runwire/test-kit/scale.ts';
import { pino } from 'pino';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { AttachmentRig, attachmentsShown, blobsIn, fileAt } from './support/attachment-rig.ts';
import { until } from './support/eventually.ts';
import { messagesFrame, refusal } from './support/scripted-server.ts';

const HOUR_MS = 3_600_000;
/** The sweep deletes unused copies immediately, and runs only when it is asked. */
const LIMITS = { unusedBlobMs: 0, sweepMs: HOUR_MS };
const PROTOCOLS = { sqlite: 'responses', postgres: 'chat' } as const;

const forgetful = (chatId: string, more: object = {}) => ({ apiIntegrationId: 'forgetful', chatId, ...more });

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  let rig: AttachmentRig;
  before(async () => {
    rig = await AttachmentRig.start({ store, limits: LIMITS });
    await rig.rig.integration({ apiIntegrationId: 'forgetful', keepAttachments: false });
  });
  after(() => rig[Symbol.asyncDispose]());

  let files = 0;

  /**
   * A file with signed links, whose server's clock is an hour slow: it still accepts a link that has expired for every
   * other clock.
   */
  function signedFile(text = 'The harbour opens at six.') {
    files += 1;
    const path = `/signed/${files}.txt`;
    rig.files.serveSigned(path, text);
    return {
      key: rig.files.url(path),
      expired: () => signedAt(path, Date.now() - HOUR_MS),
      good: () => signedAt(path, Date.now()),
      asked: () => rig.files.asked(path).length,
    };
  }

  function signedAt(path: string, atMs: number): string {
    rig.files.now = () => atMs;
    return rig.files.sign(path);
  }

  async function refused(body: Readonly<Record<string, unknown>>, says: RegExp): Promise<void> {
    const count = async () => (await askStore(rig.rig.server.dataDir, 'select count(*) as runs from runs'))[0]?.runs;
    const before = await count();
    const { status, admitted, body: answer } = await refusal(await rig.api.complete(body));
    assert.deepEqual([status, answer.code, admitted], [400, 'invalid_attachment_refresh', 'false'], answer.error);
    assert.match(answer.error, says);
    assert.ok(!answer.error.includes('X-Amz'), 'no query is reported');
    assert.equal(await count(), before, 'nothing is reserved');
  }

  test('an expired link without a copy must be refreshed, then is used', async (t) => {
    cites(
      t,
      'contract-7-refreshes',
      'contract-7-refresh-missing',
      'contract-8-400-invalid-attachment-refresh',
      'spec-2.1-refreshes',
    );
    const file = signedFile();
    const first = await rig.rig.answer(forgetful('lists', { attachments: [fileAt(file.expired())] }));
    await refused(
      forgetful('lists', { message: 'And?' }),
      new RegExp(`must list ${RegExp.escape(file.key)}: its link`),
    );
    await refused(forgetful('lists', { attachmentUrlRefreshes: {} }), /must list/);
    await refused(forgetful('lists', { attachmentUrlRefreshes: { [file.key]: file.expired() } }), /has expired too/);
    assert.equal(file.asked(), 1, 'a refusal fetches nothing');

    const refreshes = { attachmentUrlRefreshes: { [file.key]: file.good() } };
    const second = await rig.rig.answer(forgetful('lists', { message: 'And?', ...refreshes }));
    assert.equal(file.asked(), 2);
    assert.deepEqual(attachmentsShown(second.call)[0], attachmentsShown(first.call)[0], 'what is sent stays the same');
    const third = await rig.rig.answer(forgetful('lists', { message: 'And now?' }));
    assert.equal(file.asked(), 3, 'by the same fresh link');
    assert.deepEqual(third.call.request.prompt.slice(0, 2), second.call.request.prompt.slice(0, 2), 'byte for byte');

    // Signing again makes the earlier link void, which only its server knows.
    const again = file.good();
    const failed = await rig.api.complete(forgetful('lists', { message: 'Void?' }));
    await failed.whole();
    const { code, message } = messagesFrame(failed).error;
    assert.equal(code, 'attachment_unavailable');
    assert.ok(message.includes(`${file.key}, could not be fetched: its server answered 403`), message);
    assert.ok(!failed.text.includes('X-Amz-'), 'no query is shown');
    await rig.rig.answer(forgetful('lists', { attachmentUrlRefreshes: { [file.key]: again } }));
    assert.equal(file.asked(), 5);
    await until(() => blobsIn(rig.rig.server.dataDir).length === 0);
  });

  test('a kept copy needs no refresh, and a refresh is accepted', async () => {
    const file = signedFile();
    await rig.rig.answer({ chatId: 'kept', attachments: [fileAt(file.expired())] });
    await rig.rig.answer({ chatId: 'kept', message: 'And?' });
    const good = file.good();
    await rig.rig.answer({ chatId: 'kept', message: 'Still?', attachmentUrlRefreshes: { [file.key]: good } });
    assert.equal(file.asked(), 1, 'the copy is sent');
    const [row] = await askStore(rig.rig.server.dataDir, `select url from attachments where url_key = '${file.key}'`);
    assert.equal(row?.url, good, 'for when the copy is lost');
    await rig.rig.answer({ chatId: 'kept', attachments: [fileAt(file.good())] });
    assert.equal(file.asked(), 2, 'attached again');
  });

  test('a copy that was swept is fetched by the link that is good', async () => {
    const apiIntegrationId = await rig.rig.integration();
    const file = signedFile();
    const first = await rig.rig.answer({ apiIntegrationId, chatId: 'swept', attachments: [fileAt(file.expired())] });
    await rig.api.patch(`/v2/integrations/${apiIntegrationId}`, { keepAttachments: false });
    await rig.rig.server.server.probes.sweepBlobs();
    await refused({ apiIntegrationId, chatId: 'swept' }, /must list/);
    const attachmentUrlRefreshes = { [file.key]: file.good() };
    const next = await rig.rig.answer({ apiIntegrationId, chatId: 'swept', attachmentUrlRefreshes });
    assert.deepEqual([attachmentsShown(next.call)[0], file.asked()], [attachmentsShown(first.call)[0], 2]);
  });

  test(`the provider receives earlier turns byte for byte, by ${PROTOCOLS[store]}`, async () => {
    const log: string[] = [];
    await using provider = await FakeProvider.start();
    const answer = sseText(providerEvents(PROTOCOLS[store], { parts: [{ kind: 'text', deltas: ['Good ', 'day'] }] }));
    provider.onCall = (call) => void call.stream(answer);
    await using server = await startTestServer({
      store,
      env: { ...provider.env(PROTOCOLS[store]), ...rig.files.env },
      limits: LIMITS,
      logger: pino({ level: 'debug' }, { write: (line: string) => void log.push(line) }),
    });
    for (const apiIntegrationId of ['kept', 'off']) {
      const path = `/v2/integrations/${apiIntegrationId}`;
      await server.api.post('/v2/integrations', { apiIntegrationId, keepAttachments: apiIntegrationId === 'kept' });
      const file = signedFile();
      let before: readonly string[] = [];
      const turn = async (more: object = {}) => {
        const reader = await server.api.complete({ apiIntegrationId, chatId: 'a', message: 'And now?', ...more });
        await reader.whole();
        assert.equal(messagesFrame(reader).error, null);
        const { input, messages } = provider.calls.at(-1)?.body ?? {};
        const prompt: string[] = (input ?? messages).map((item: unknown) => JSON.stringify(item));
        assert.ok(prompt.join().includes('The harbour opens at six.'));
        assert.deepEqual(prompt.slice(0, before.length), before, `${apiIntegrationId}: how its prompt begins`);
        count({ stable_turns: before.length > 0 ? 1 : 0 });
        before = prompt;
      };
      await turn({ attachments: [fileAt(file.expired())] });
      if (apiIntegrationId === 'kept') {
        await turn();
        await turn({ attachments: [fileAt(file.good())] });
        await server.api.patch(path, { keepAttachments: false });
        await server.server.probes.sweepBlobs();
      }
      await turn({ attachmentUrlRefreshes: { [file.key]: file.good() } });
      await turn();
    }
    assert.ok(log.length > 0 && !log.join().includes('X-Amz-'), 'no query is in the log');
  });

  test('a link without an expiry never has to be refreshed', async () => {
    const url = rig.files.serve('/plain/a.txt', 'Plain.');
    await rig.rig.answer(forgetful('plain', { attachments: [fileAt(`${url}?token=1`)] }));
    await rig.rig.answer(forgetful('plain', { message: 'And?' }));
    // The caller may list it nevertheless.
    await rig.rig.answer(forgetful('plain', { attachmentUrlRefreshes: { [url]: `${url}?token=2` } }));
    assert.deepEqual(
      rig.files.asked('/plain/a.txt').map(({ query }) => query),
      ['?token=1', '?token=1', '?token=2'],
    );
  });

  test('a refresh names an earlier attachment with the same host and path', async (t) => {
    cites(t, 'contract-7-refreshes', 'spec-2.1-refreshes');
    const file = signedFile();
    const gone = rig.files.url('/gone.txt');
    await rig.rig.answer({ chatId: 'keys', attachments: [fileAt(file.good())] });
    const failed = await rig.api.complete({ chatId: 'keys', attachments: [fileAt(`${gone}?sig=1`)] });
    await failed.whole();
    assert.equal(messagesFrame(failed).error.code, 'attachment_unavailable');

    const refresh = (attachmentUrlRefreshes: object) => ({ chatId: 'keys', attachmentUrlRefreshes });
    const other = signedFile();
    await rig.rig.answer({ chatId: 'elsewhere', attachments: [fileAt(other.good())] });
    await refused(refresh({ [other.key]: other.good() }), /which is not an earlier attachment of this chat/);
    await refused({ chatId: 'new', attachmentUrlRefreshes: { [file.key]: file.good() } }, /not an earlier attachment/);
    await refused({ attachmentUrlRefreshes: { [file.key]: file.good() } }, /not an earlier attachment/);
    await refused(refresh({ [file.good()]: file.good() }), /a key with a query or a fragment/);
    await refused(refresh({ [`${file.key}#top`]: file.good() }), /a key with a query or a fragment/);
    const port = new URL(file.key).origin;
    await refused(refresh({ [file.key]: file.good().replace(port, 'https://127.0.0.1') }), /./);
    await refused(refresh({ [file.key]: other.good() }), /another host or path/);
    await refused(refresh({ [file.key]: file.good().replace('127.0.0.1', 'localhost') }), /another host or path/);
    await refused(refresh({ [file.key]: file.good().replace('https:', 'http:') }), /must be an https URL/);
    await rig.rig.answer(refresh({ [file.key]: file.good(), [gone]: `${gone}?sig=2` }));
  });

  test('a link of megabytes is refused as any that is too long', async () => {
    const file = signedFile();
    const link = `${file.key}?${'a'.repeat(20_000_000)}`;
    const { status, body } = await refusal(await rig.api.complete({ attachmentUrlRefreshes: { [file.key]: link } }));
    assert.deepEqual([status, body.code], [400, 'invalid_request']);
    assert.match(body.error, /of at most 8192 characters/);
  });

  test('names a key of the wrong type, or given twice, without its query', async () => {
    const key = '"https://a.example/a?SECRETQ#SECRETF"';
    const answerTo = async (refreshes: string) => {
      const headers = { ...rig.api.authorization, 'content-type': 'application/json' };
      const body = `{"apiIntegrationId":"demo","message":"Hi","attachmentUrlRefreshes":${refreshes}}`;
      const answer = await fetch(`${rig.rig.server.url}/get_completion_v2`, { method: 'POST', headers, body });
      return [answer.status, ((await answer.json()) as { error: string }).error];
    };
    assert.deepEqual(await answerTo(`{${key}:5}`), [
      400,
      '`attachmentUrlRefreshes.https://a.example/a` must be of type string.',
    ]);
    assert.deepEqual(await answerTo(`{${key}:"a",${key}:"b"}`), [
      400,
      'The body names the member "https://a.example/a" twice in one object: see line 1, column 111.',
    ]);
  });

  test('a failed turn needs no fresh links, a cancelled turn does', async () => {
    const failing = signedFile();
    const failed = await rig.rig.hold(forgetful('failed', { attachments: [fileAt(failing.expired())] }));
    await failed.call.fail('server_error', 'It broke.');
    await failed.reader.whole();
    assert.equal(messagesFrame(failed.reader).status, 'failed');
    await rig.rig.answer(forgetful('failed', { message: 'And?' }));
    assert.equal(failing.asked(), 1, 'nor is it fetched again');

    const stopped = signedFile();
    const cancelled = await rig.rig.hold(forgetful('cancelled', { attachments: [fileAt(stopped.expired())] }));
    assert.equal((await rig.api.post(`/v2/integrations/forgetful/runs/${cancelled.runId}/cancel`)).status, 200);
    await cancelled.reader.whole();
    await refused(forgetful('cancelled'), new RegExp(`must list ${RegExp.escape(stopped.key)}`));
  });

  test('checks refreshes after agent and sandbox files, before the busy chat', async (t) => {
    cites(t, 'contract-4-order-refreshes');
    const file = signedFile();
    await rig.rig.answer(forgetful('order', { attachments: [fileAt(file.expired())] }));
    const getCode = async (more: object) => (await refusal(await rig.api.complete(forgetful('order', more)))).body.code;
    assert.equal(await getCode({ agent: 'Nobody' }), 'unknown_agent');
    const sandboxFiles = [{ name: 'a.txt', path: '/app/mnt/u/a.txt' }];
    assert.equal(await getCode({ sandboxFiles }), 'sandbox_file_not_found');
    const wrong = { attachmentUrlRefreshes: { [file.key]: 'https://elsewhere.example/' } };
    assert.equal(await getCode({ sandboxFiles, ...wrong }), 'sandbox_file_not_found');
    assert.equal(await getCode(wrong), 'invalid_attachment_refresh');

    const refreshes = { attachmentUrlRefreshes: { [file.key]: file.good() } };
    const held = await rig.rig.hold(forgetful('order', refreshes));
    assert.equal(await getCode(wrong), 'invalid_attachment_refresh', 'although the chat is busy');
    assert.equal(await getCode({}), 'run_active', 'the fresh link is good');
    await held.finish();
  });

  test('an attachment of an unfinished run does not count as an earlier file', async () => {
    const file = signedFile();
    const held = await rig.rig.hold(forgetful('busy', { attachments: [fileAt(file.expired())] }));
    const { body } = await refusal(await rig.api.complete(forgetful('busy')));
    assert.equal(body.code, 'run_active');
    await held.finish();
    await refused(forgetful('busy'), /must list/);
  });

  test('a replay looks at no link', async () => {
    const file = signedFile();
    const body = forgetful('replay', { usageRequestId: 'replayed', attachments: [fileAt(file.expired())] });
    const { runId } = await rig.rig.answer(body);
    await refused(forgetful('replay'), /must list/);
    const reader = await rig.api.complete(body);
    assert.deepEqual([reader.headers['x-run-replayed'], reader.headers['x-run-id']], ['true', runId]);
    await reader.whole();
  });
}
