import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { defineAgency, defineAgent } from '@runwire/agency';
import { type ApiClient, hookStore, imageAttachment, makePng, StoreUnavailable, testAgency } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { KillableServer } from './support/killable-server.ts';
import { messagesFrame, refusal, ScriptedServer } from './support/scripted-server.ts';
import { at, upload } from './support/uploads.ts';

const REPORT = { name: 'report.csv', path: '/app/mnt/u/42/report.csv' };
const NOTES = { name: 'My notes.txt', path: '/app/mnt/u/42/My notes.txt' };

let rig: ScriptedServer;
/** Counts the lookups of files, and holds the error that replaces the next answer. */
const finds = { count: 0, fault: null as Error | null };

before(async () => {
  const reader = defineAgent({ name: 'Reader', description: 'Reads.', instructions: 'Read.' });
  rig = await ScriptedServer.start({
    agencies: { test: testAgency, reads: defineAgency({ name: 'Reads', agents: [reader] }) },
    wrapStore: hookStore({
      read: (statement, read) => {
        if (statement !== 'file at') return read();
        finds.count += 1;
        return finds.fault === null ? read() : Promise.reject(finds.fault);
      },
    }),
  });
});
after(() => rig[Symbol.asyncDispose]());

const put = (api: ApiClient, apiIntegrationId: string, path: string, text: string, contentType = 'text/plain') =>
  upload(api, text, { apiIntegrationId, ...at(path), contentType });
const remove = async (apiIntegrationId: string, path: string) => {
  const query = new URLSearchParams({ path });
  assert.equal((await rig.api.delete(`/v2/integrations/${apiIntegrationId}/files?${query}`)).status, 204);
};

/** Makes an integration of the test agency with both files. */
async function furnished(fields: object = {}): Promise<string> {
  const apiIntegrationId = await rig.integration({ agency: 'test', ...fields });
  await put(rig.api, apiIntegrationId, REPORT.path, 'a,b\n1,2\n', 'text/csv');
  await put(rig.api, apiIntegrationId, NOTES.path, 'Buy milk.');
  return apiIntegrationId;
}

test('files of a message are announced; its text is unchanged', async (t) => {
  cites(t, 'spec-1-files-sandbox', 'spec-2.3-path', 'spec-2.3-images', 'contract-7-sandbox-image');
  const apiIntegrationId = await furnished();
  const image = await put(rig.api, apiIntegrationId, '/app/mnt/u/a.png', 'no image', 'image/png');
  const sandboxFiles = [REPORT, NOTES, { name: 'a.png', path: image }];
  const body = { apiIntegrationId, chatId: 'c', message: 'Look', sandboxFiles };
  const { call, reader } = await rig.answer(body);
  assert.deepEqual(call.request.prompt, [{ kind: 'user', text: 'Look', sandboxFiles }], 'and no image is sent');
  const attachments = [imageAttachment(makePng(300, 1))];
  const seen = await rig.answer({ apiIntegrationId, message: 'See', sandboxFiles, attachments });
  const [item] = seen.call.request.prompt;
  assert.deepEqual(item?.kind === 'user' && [item.attachments?.length, item.sandboxFiles], [1, sandboxFiles]);
  const [asked] = messagesFrame(reader).new_messages;
  assert.deepEqual([asked.role, asked.content], ['user', 'Look']);
  const { body: listed } = await rig.api.get(`/v2/integrations/${apiIntegrationId}/chats/c/messages`);
  const shown = listed.items.map((item: { content: string; sandboxFiles: unknown }) => [
    item.content,
    item.sandboxFiles,
  ]);
  assert.deepEqual(shown, [
    ['Hi', []],
    ['Look', sandboxFiles],
  ]);
});

test('refuses a path that is not canonical, or a name that is not its end', async (t) => {
  cites(t, 'spec-2.3-name');
  const apiIntegrationId = await furnished();
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ path: 'report.csv' }, /^`sandboxFiles\[1\]\.path` must begin with `\/app\/mnt\/`\.$/],
    [{ path: '/app/mnt/u/../report.csv' }, /^`sandboxFiles\[1\]\.path` must have no `\.` or `\.\.` segment/],
    [{ path: '/app/mnt/u/42/report.csv/' }, /^`sandboxFiles\[1\]\.path` must have no empty segment/],
    [{ path: '/app/mnt/u\u0007/report.csv' }, /^`sandboxFiles\[1\]\.path` must not contain control characters/],
    [{ name: 'Report.csv' }, /^`sandboxFiles\[1\]\.name` must equal the last segment of `path`\.$/],
    [{ name: '42/report.csv' }, /^`sandboxFiles\[1\]\.name` must/],
    [{ name: 'report.csv\u0000' }, /^`sandboxFiles\[1\]\.name` must not contain control characters/],
    [{ name: '' }, /^`sandboxFiles\[1\]\.name` must/],
  ];
  finds.count = 0;
  for (const [fields, says] of wrong) {
    const sandboxFiles = [NOTES, { ...REPORT, ...fields }];
    const { status, admitted, body } = await refusal(await rig.api.complete({ apiIntegrationId, sandboxFiles }));
    assert.deepEqual([status, admitted, body.code], [400, 'false', 'invalid_request'], JSON.stringify(fields));
    assert.match(body.error, says);
  }
  assert.equal(finds.count, 0);
});

test('names a file that was not uploaded, and starts nothing', async (t) => {
  cites(t, 'contract-7-sandbox-file-missing', 'contract-8-400-sandbox-file-not-found');
  const apiIntegrationId = await furnished();
  const other = await rig.integration({ agency: 'test' });
  const cases = [
    [apiIntegrationId, { name: 'none.txt', path: '/app/mnt/u/42/none.txt' }],
    [apiIntegrationId, { name: '42', path: '/app/mnt/u/42' }],
    [other, REPORT],
  ] as const;
  for (const [integration, file] of cases) {
    const body = { apiIntegrationId: integration, chatId: 'never', usageRequestId: 'never', message: 'Look' };
    const sandboxFiles = integration === other ? [file] : [REPORT, file];
    const { status, admitted, body: said } = await refusal(await rig.api.complete({ ...body, sandboxFiles }));
    assert.deepEqual([status, admitted, said.code], [400, 'false', 'sandbox_file_not_found']);
    assert.ok(said.error.includes(`\`${file.path}\``), said.error);
    assert.equal((await rig.api.get(`/v2/integrations/${integration}/chats/never`)).status, 404);
    // A refused request leaves its id unused.
    assert.equal((await rig.api.get(`/v2/integrations/${integration}/chat_status?usageRequestId=never`)).status, 404);
  }
});

test('checks files after member, chat and agent, before chat and allowance', async (t) => {
  cites(t, 'contract-4-order-sandbox-files', 'contract-4-sandbox-files-asked');
  const allowances = { unit: 'runs', limit: 1, period: 'lifetime' };
  const apiIntegrationId = await rig.metered(allowances, { agency: 'test' });
  const missing = { sandboxFiles: [REPORT] };
  const ann = { apiIntegrationId, consumerId: 'ann', usageRequestId: 'u1', chatId: 'c', message: 'Hi' };
  const busy = await rig.hold(ann);
  const code = async (fields: object) =>
    (await refusal(await rig.api.complete({ ...ann, usageRequestId: 'u2', ...missing, ...fields }))).body.code;
  finds.count = 0;
  assert.equal(await code({ consumerId: 'bob' }), 'member_not_found');
  await rig.member(apiIntegrationId, 'bob');
  assert.equal(await code({ consumerId: 'bob' }), 'chat_not_found');
  assert.equal(await code({ agent: 'Nobody' }), 'unknown_agent');
  assert.equal(await code({ usageRequestId: 'u1' }), 'usage_request_id_reused');
  assert.equal(finds.count, 0, 'nothing is asked for what is refused before');
  assert.equal(await code({}), 'sandbox_file_not_found', 'before 409');
  await busy.finish();
  assert.equal(await code({}), 'sandbox_file_not_found', 'before 429');
  assert.equal(await code({ sandboxFiles: [] }), 'consumer_allowance_exhausted');
});

test('a replay does not look for its files, which may be deleted', async () => {
  const apiIntegrationId = await furnished();
  const body = { apiIntegrationId, usageRequestId: 'u', message: 'Look', sandboxFiles: [REPORT, NOTES] };
  const { runId } = await rig.answer(body);
  await remove(apiIntegrationId, REPORT.path);
  finds.count = 0;
  const replayed = async (fields: object) => {
    const reader = await rig.api.complete({ ...body, ...fields });
    await reader.over;
    return [reader.status, reader.headers['x-run-replayed'], reader.headers['x-run-id']];
  };
  assert.deepEqual(await replayed({}), [200, 'true', runId]);
  // Unknown fields of a sandbox file are ignored.
  assert.deepEqual(await replayed({ sandboxFiles: [{ ...REPORT, size: 5 }, NOTES] }), [200, 'true', runId]);
  for (const sandboxFiles of [[REPORT], [NOTES, REPORT], [], undefined]) {
    const { body: said } = await refusal(await rig.api.complete({ ...body, sandboxFiles }));
    assert.equal(said.code, 'usage_request_id_reused');
  }
  finds.fault = new StoreUnavailable('The store for files is away.');
  try {
    assert.deepEqual(await replayed({}), [200, 'true', runId]);
    assert.equal(finds.count, 0);
    const fresh = await refusal(await rig.api.complete({ ...body, usageRequestId: 'v' }));
    assert.deepEqual([fresh.status, fresh.admitted, fresh.body.code], [503, 'false', 'unavailable']);
    assert.equal(fresh.retryAfter, '1');
  } finally {
    finds.fault = null;
  }
});

test('two entries of one path are both listed; a message may be empty', async () => {
  const apiIntegrationId = await furnished();
  const sandboxFiles = [REPORT, REPORT];
  const { call } = await rig.answer({ apiIntegrationId, chatId: 'c', message: '', sandboxFiles });
  assert.deepEqual(call.request.prompt, [{ kind: 'user', text: '', sandboxFiles }]);
  const { body } = await rig.api.get(`/v2/integrations/${apiIntegrationId}/chats/c/messages`);
  assert.deepEqual(body.items[1].sandboxFiles, sandboxFiles);
});

test('later turns announce the files of all earlier turns byte for byte', async (t) => {
  cites(t, 'contract-7-turns-sandbox-files');
  const apiIntegrationId = await furnished();
  const body = { apiIntegrationId, chatId: 'c' };
  const failed = await rig.hold({ ...body, message: 'One', sandboxFiles: [REPORT] });
  await failed.call.fail('model_error', 'It broke.');
  await failed.reader.whole();
  assert.equal(messagesFrame(failed.reader).status, 'failed');
  const cancelled = await rig.hold({ ...body, message: 'Two', sandboxFiles: [NOTES] });
  await rig.api.post(`/v2/integrations/${apiIntegrationId}/runs/${cancelled.runId}/cancel`);
  await cancelled.reader.whole();
  assert.equal(messagesFrame(cancelled.reader).status, 'cancelled');
  // The announcement stays the same after the file is deleted.
  await remove(apiIntegrationId, NOTES.path);
  const third = await rig.answer({ ...body, message: 'Three', sandboxFiles: [REPORT] }, 'Done.');
  assert.deepEqual(third.call.request.prompt, [
    { kind: 'user', text: 'One', sandboxFiles: [REPORT] },
    { kind: 'user', text: 'Two', sandboxFiles: [NOTES] },
    { kind: 'user', text: 'Three', sandboxFiles: [REPORT] },
  ]);
  const fourth = await rig.answer({ ...body, message: 'Four' });
  const grown = [...third.call.request.prompt, { kind: 'assistant', text: 'Done.' }, { kind: 'user', text: 'Four' }];
  assert.equal(JSON.stringify(fourth.call.request.prompt), JSON.stringify(grown));
});

test('announcements count in the window of the model', async () => {
  await using own = await ScriptedServer.start({ env: { RUNWIRE_MODEL_WINDOW: '6000' } });
  const apiIntegrationId = await own.integration({ agency: 'test' });
  // About a thousand tokens per turn. Three turns fit into half of the window.
  const folder = `/app/mnt/${['a', 'b', 'c'].map((name) => name.repeat(250)).join('/')}`;
  const sandboxFiles = [1, 2, 3, 4, 5].map((name) => ({ name: `${name}`, path: `${folder}/${name}` }));
  for (const { path } of sandboxFiles) await put(own.api, apiIntegrationId, path, '.');
  const shown: number[] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    const { call } = await own.answer({ apiIntegrationId, chatId: 'c', message: `${turn}`, sandboxFiles });
    shown.push(call.request.prompt.filter(({ kind }) => kind === 'user').length - 1);
  }
  assert.deepEqual(shown.slice(0, 4), [0, 1, 2, 3]);
  assert.ok(
    shown.every((turns) => turns <= 3),
    String(shown),
  );
});

test('a run that another process resumes announces its files as before', async () => {
  await using server = await KillableServer.start();
  await server.metered();
  await put(server.api, 'mine', REPORT.path, 'a,b');
  const body = { apiIntegrationId: 'mine', consumerId: 'ann', chatId: 'c', usageRequestId: 'u1', message: 'Look' };
  const first = await server.hold({ ...body, sandboxFiles: [REPORT] });
  await server.process.kill();
  await server.startAgain();
  const again = await server.controller.nextCall();
  assert.equal(again.request.attempt, 2);
  assert.equal(JSON.stringify(again.request.prompt), JSON.stringify(first.call.request.prompt));
  await again.end();
});

test('an agent reads files with its tools; with `files: false` it has none', async (t) => {
  cites(t, 'spec-2.3-sandbox-tools');
  const apiIntegrationId = await furnished({ agency: 'reads', fileAccess: 'all' });
  const held = await rig.hold({ apiIntegrationId, message: 'Look', sandboxFiles: [REPORT] });
  assert.deepEqual(
    held.call.request.tools.map(({ name }) => name),
    ['list_files', 'read_file', 'search_files', 'show_file'],
  );
  await held.call.toolCall('call_1', 'read_file', JSON.stringify({ path: REPORT.path }));
  await held.call.toolCall('call_2', 'search_files', '{"text":"milk"}');
  await held.call.toolCall('call_3', 'list_files', '{"folder":"/app/mnt/u"}');
  await held.call.toolCall('call_4', 'read_file', '{"path":"/etc/passwd"}');
  await held.call.end();
  const told = (await rig.controller.nextCall()).request.prompt.flatMap((item) =>
    item.kind === 'tool_output' ? [item.output] : [],
  );
  assert.deepEqual(told, [
    `${REPORT.path} (text/csv, 8 bytes), lines 1 to 2 of 2:\na,b\n1,2`,
    `1 matching line, 2 files below /app/mnt searched.\n${NOTES.path}:1: Buy milk.`,
    '/app/mnt/u/42 (folder)',
    '`path` must begin with `/app/mnt/`.',
  ]);
  const without = await rig.hold({ apiIntegrationId: await furnished(), agent: 'Writer' });
  assert.deepEqual(without.call.request.tools, []);
  await without.call.toolCall('call_1', 'read_file', JSON.stringify({ path: REPORT.path }));
  await without.call.end();
  const next = await rig.controller.nextCall();
  assert.deepEqual(next.request.prompt.at(-1), {
    kind: 'tool_output',
    callId: 'call_1',
    output: 'There is no tool `read_file`.',
  });
});
