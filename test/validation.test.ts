import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { namedSchemas, operations, patternSentences } from '@runwire/contract/schemas';
import { type ApiClient, parseFrames } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { toRows } from './support/columns.ts';
import { until } from './support/eventually.ts';
import { jsonHead, RawConnection } from './support/raw-http.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { signing } from './support/uploads.ts';

const rig = await ScriptedServer.start({ limits: { bodyBytes: 100_000 } });
after(() => rig[Symbol.asyncDispose]());
const { api, controller, server } = rig;
controller.answerAll('Hi');

const send = (body: unknown) => api.post('/get_completion_v2', body);
const complete = (fields: object) => send({ apiIntegrationId: 'demo', message: 'Hi', ...fields });

async function taken(fields: object): Promise<Record<string, string>> {
  const { status, body, headers } = await complete(fields);
  assert.equal(status, 200, `${JSON.stringify(fields)}: ${JSON.stringify(body)}`);
  assert.equal(headers.get('x-agent-run-admitted'), 'true');
  return JSON.parse(parseFrames(body)[0]?.data ?? '{}');
}

async function replayed(fields: object, runId: string | undefined): Promise<void> {
  const { headers } = await complete(fields);
  assert.deepEqual([headers.get('x-run-replayed'), headers.get('x-run-id')], ['true', runId]);
}

async function refused(answer: ReturnType<ApiClient['post']>, says: RegExp, status = 400, code = 'invalid_request') {
  const { status: got, body, headers } = await answer;
  assert.deepEqual([got, body.code], [status, code], `${says}: ${JSON.stringify(body)}`);
  assert.match(body.error, says);
  return headers;
}

const wrong = async (fields: object, says: RegExp, code?: string) => {
  const headers = await refused(complete(fields), says, 400, code);
  assert.equal(headers.get('x-agent-run-admitted'), 'false');
};

/** Attachments on this machine: nothing is fetched, and the runs fail after their admission. */
const file = { type: 'input_file', file_url: 'https://localhost/a.pdf' };
const image = { type: 'input_image', image_url: 'https://localhost/a.png' };
const notStrings = [5, 0, true, [], ['a'], {}, { a: 1 }];

test('needs integration and message as strings; the message may be empty', async (t) => {
  cites(
    t,
    'spec-2.1-api-integration-id',
    'spec-2.1-message',
    'spec-4.1-body',
    'contract-4-empty-message',
    'contract-4-strict',
    'contract-8-400-invalid-request',
  );
  await refused(send({ message: 'Hi' }), /`apiIntegrationId` is missing/);
  await refused(send({ apiIntegrationId: 'demo' }), /`message` is missing/);
  for (const body of ['[]', '"text"', '5', 'null', '']) await refused(send(body), /The body/);
  for (const value of notStrings) {
    await wrong({ apiIntegrationId: value }, /`apiIntegrationId` must be of type string/);
    await wrong({ message: value }, /`message` must be of type string/);
  }
  const { chatId } = await taken({ message: '' });
  const history = (await api.get(`/v2/integrations/demo/chats/${chatId}/messages`)).body.items;
  assert.deepEqual(toRows(history, 'role', 'content'), [
    ['assistant', 'Hi'],
    ['user', ''],
  ]);
});

test('accepts null only if the specification allows it', async (t) => {
  cites(t, 'contract-4-null', 'spec-2.1-chat-id', 'spec-2.1-alias-chat-id');
  await taken({ chatId: null, aliasChatId: null, user_context: null });
  const others = [
    'apiIntegrationId',
    'message',
    'agent',
    'consumerId',
    'usageRequestId',
    'attachments',
    'sandboxFiles',
    'attachmentUrlRefreshes',
  ];
  for (const field of others) await wrong({ [field]: null }, new RegExp(`\`${field}\` must be`));
  for (const field of ['chatId', 'aliasChatId']) {
    for (const value of notStrings) await wrong({ [field]: value }, new RegExp(`\`${field}\` must be of type string`));
  }
  assert.equal((await taken({ chatId: 'one' })).chatId, 'one');
  assert.equal((await taken({ aliasChatId: 'two' })).aliasChatId, 'two');
});

test("agent is an entry point; if omitted, the integration's default", async (t) => {
  cites(t, 'spec-2.1-agent');
  const apiIntegrationId = await rig.integration({ agency: 'test', defaultAgent: 'Writer' });
  assert.equal((await taken({ apiIntegrationId })).agent, 'Writer');
  assert.equal((await taken({ apiIntegrationId, agent: 'Clerk' })).agent, 'Clerk');
  await refused(complete({ apiIntegrationId, agent: 'clerk' }), /`Clerk`, `Writer`/, 400, 'unknown_agent');
  for (const value of notStrings) await wrong({ agent: value }, /`agent` must be of type string/);
});

test('user_context is an object, a string or null, and arrives as sent', async (t) => {
  cites(t, 'spec-2.1-user-context', 'contract-4-strict');
  for (const value of [5, true, [], ['a']]) await wrong({ user_context: value }, /`user_context` must be of type/);
  const apiIntegrationId = await rig.integration({ agency: 'test' });
  const contexts = [{ plan: 'gold', deep: { list: [1, '1', null, { a: {} }] }, '': 0, detail: 'x' }, {}, '', 'text'];
  for (const [place, context] of contexts.entries()) {
    const { onCall } = controller;
    controller.onCall = async (call) => {
      const output = call.request.prompt.find((item) => item.kind === 'tool_output');
      if (output === undefined) await call.toolCall('call_1', 'echo', '{}');
      else await call.text(output.output);
      await call.end();
    };
    const reader = await api.complete({ apiIntegrationId, agent: 'Clerk', user_context: context });
    await reader.whole();
    controller.onCall = onCall;
    assert.deepEqual(JSON.parse(reader.answer).context, context, `context ${place}`);
  }
});

test('accepts five attachments, each with exactly the fields of its type', async (t) => {
  cites(
    t,
    'spec-2.1-attachments',
    'spec-8-attachments',
    'spec-2.2-discriminated',
    'spec-2.2-no-additional',
    'contract-4-unknown-fields-attachments',
  );
  await taken({ attachments: [] });
  await taken({ attachments: [file] });
  await taken({ attachments: [file, image, file, image, file] });
  await wrong({ attachments: Array.from({ length: 6 }, () => file) }, /`attachments` must have at most 5 items/);
  for (const value of [5, 'a', true, {}, file])
    await wrong({ attachments: value }, /`attachments` must be of type array/);
  for (const value of [5, 'a', true, null, []]) await wrong({ attachments: [file, value] }, /`attachments\[1\]` must/);
  for (const type of [undefined, 'input_audio', 'INPUT_FILE', '', 5, null]) {
    await wrong({ attachments: [{ ...file, type }] }, /`attachments\[0\]\.type`/);
  }
  const strangers = [
    { ...file, image_url: 'https://localhost/a.png' },
    { ...image, file_url: 'https://localhost/a.pdf' },
    { ...file, detail: 'low' },
    { ...image, filename: 'a.png' },
    { ...file, extra: null },
  ];
  for (const stranger of strangers) {
    await wrong({ attachments: [stranger] }, /`attachments\[0\]\.\w+` is not a known field/);
  }
});

test('a file has a URL and an optional name; an image has an optional detail', async (t) => {
  cites(
    t,
    'spec-2.2-file-type',
    'spec-2.2-file-url-shape',
    'spec-2.2-filename-shape',
    'spec-2.2-image-type',
    'spec-2.2-image-url-shape',
    'spec-2.2-detail-shape',
  );
  const one = (attachment: object) => ({ attachments: [attachment] });
  await taken(one({ ...file, filename: 'a.pdf' }));
  await wrong(one({ type: 'input_file' }), /`attachments\[0\]\.file_url` is missing/);
  for (const file_url of [5, null, 'a.pdf', '', 'https://exa mple.com/']) {
    await wrong(one({ ...file, file_url }), /`attachments\[0\]\.file_url` must be/);
  }
  for (const filename of [5, null, []]) await wrong(one({ ...file, filename }), /filename` must be of type string/);
  for (const detail of ['auto', 'low', 'high']) await taken(one({ ...image, detail }));
  await wrong(one({ ...image, image_url: 'data:image/png;base64,AAAA' }), /`attachments\[0\]\.image_url` is not a PNG/);
  await wrong(
    one({ ...file, file_url: 'data:image/png;base64,AAAA' }),
    /`attachments\[0\]\.file_url` must be an https URL/,
  );
  await wrong(one({ type: 'input_image' }), /`attachments\[0\]\.image_url` is missing/);
  for (const image_url of [5, null, ''])
    await wrong(one({ ...image, image_url }), /`attachments\[0\]\.image_url` must/);
  for (const detail of ['original', 'LOW', '', 5, null]) {
    await wrong(one({ ...image, detail }), /`attachments\[0\]\.detail` must be (one of|of type)/);
  }
});

test('at most five sandbox files, each with a name and a path', async (t) => {
  cites(t, 'spec-2.1-sandbox-files', 'spec-8-sandbox-files', 'spec-2.3-name-shape', 'spec-2.3-path-shape');
  const uploaded = { name: 'a.txt', path: '/app/mnt/u/a.txt' };
  await taken({ sandboxFiles: [] });
  const notThere = /`\/app\/mnt\/u\/a\.txt` was not uploaded/;
  await wrong({ sandboxFiles: [uploaded] }, notThere, 'sandbox_file_not_found');
  await wrong({ sandboxFiles: [uploaded, uploaded, uploaded, uploaded, uploaded] }, notThere, 'sandbox_file_not_found');
  await wrong({ sandboxFiles: Array.from({ length: 6 }, () => uploaded) }, /`sandboxFiles` must have at most 5 items/);
  for (const value of [5, 'a', {}, uploaded])
    await wrong({ sandboxFiles: value }, /`sandboxFiles` must be of type array/);
  for (const field of ['name', 'path'] as const) {
    const { [field]: _, ...rest } = uploaded;
    await wrong({ sandboxFiles: [rest] }, new RegExp(`\`sandboxFiles\\[0\\]\\.${field}\` is missing`));
    for (const value of [5, null, []]) {
      await wrong({ sandboxFiles: [{ ...uploaded, [field]: value }] }, new RegExp(`${field}\` must be of type string`));
    }
  }
});

test('attachmentUrlRefreshes is an object of strings', async (t) => {
  cites(t, 'spec-2.1-refreshes-shape');
  const url = 'https://localhost/a.pdf';
  await taken({ attachmentUrlRefreshes: {} });
  await wrong(
    { attachmentUrlRefreshes: { [url]: `${url}?fresh` } },
    /not an earlier attachment/,
    'invalid_attachment_refresh',
  );
  for (const value of [5, 'a', []]) await wrong({ attachmentUrlRefreshes: value }, /must be of type object/);
  for (const value of [5, null, {}, 'not a url']) {
    await wrong({ attachmentUrlRefreshes: { [url]: value } }, /attachmentUrlRefreshes.*must be/);
  }
});

test('a member is named without the query of a URL, and not at any length', async () => {
  const long = 'x'.repeat(1000);
  const named = new RegExp(`^\`${'x'.repeat(200)}…\` is not a known field`);
  await refused(api.post('/v2/integrations', { name: 'N', [long]: 1 }), named);
  const signed = { name: 'N', 'https://a.example/a?SECRETQ': 1 };
  await refused(api.post('/v2/integrations', signed), /^`https:\/\/a\.example\/a` is not a known field/);
});

test('unknown fields of a completion are ignored, also when it is sent again', async (t) => {
  cites(t, 'contract-4-unknown-fields');
  const first = await taken({ usageRequestId: 'unknown-1', stream: true, temperature: { a: [null] } });
  await replayed({ usageRequestId: 'unknown-1', temperature: 'other' }, first.run_id);
});

test('refuses a misspelt field of a completion and names the right one', async (t) => {
  cites(t, 'contract-4-near-miss');
  const meant = {
    usageRequestID: 'usageRequestId',
    usage_request_id: 'usageRequestId',
    usageRequstId: 'usageRequestId',
    usageReqeustId: 'usageRequestId',
    chat_id: 'chatId',
    userContext: 'user_context',
    agents: 'agent',
    'SANDBOX-FILES': 'sandboxFiles',
  };
  for (const [name, right] of Object.entries(meant)) {
    const says = new RegExp(`^\`${name}\` is not a field of this request; did you mean \`${right}\`\\?$`);
    await wrong({ [name]: 'a' }, says);
    // Refused even if the right field is given too.
    await wrong({ usageRequestId: 'a', chatId: 'a', [name]: 'a' }, /did you mean/);
  }
  await refused(send({ apiIntegrationId: 'demo', mesage: 'Hi' }), /did you mean `message`\?/);
  await taken({ user_context: { usageRequestID: 'below the top level' } });
});

test('meta lists the fields that were ignored, in every replay', async (t) => {
  cites(t, 'contract-4-near-miss', 'contract-4-unknown-fields');
  const extra = { stream: true, temperature: 1, ['x'.repeat(70)]: null, ['\u{1f600}'.repeat(65)]: 1 };
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`field${i}`, i]));
  const listed = ['stream', 'temperature', 'x'.repeat(64), '\u{1f600}'.repeat(64)];
  const meta: Record<string, unknown> = await taken({ usageRequestId: 'ignored', ...extra, ...many });
  assert.deepEqual(meta.ignored_fields, [...listed, ...Object.keys(many).slice(0, 16)]);
  const replay = await taken({ usageRequestId: 'ignored' });
  assert.deepEqual(replay, meta, 'as the first request sent them');
  const events = await api.events(String(meta.run_id), null);
  assert.deepEqual(JSON.parse((await events.whole())[0]?.data ?? ''), meta);
  assert.ok(!('ignored_fields' in (await taken({}))));
});

test('a consumerId or usageRequestId is a string; blank is missing', async (t) => {
  cites(t, 'spec-2.1-consumer-id', 'spec-2.1-usage-request-id', 'contract-4-blank-attribution');
  for (const field of ['consumerId', 'usageRequestId']) {
    for (const value of notStrings) await wrong({ [field]: value }, new RegExp(`\`${field}\` must be of type string`));
  }
  for (const blank of ['', ' ', '\t', ' \n\t\r', '\u3000', ' '.repeat(300)]) {
    const meta = await taken({ consumerId: blank, usageRequestId: blank });
    assert.deepEqual([meta.consumerId, meta.usageRequestId], [null, null], JSON.stringify(blank));
  }
  const { run_id } = await taken({ usageRequestId: 'blank-1', consumerId: '\t ' });
  for (const fields of [{}, { consumerId: '' }, { consumerId: ' '.repeat(300) }]) {
    await replayed({ usageRequestId: 'blank-1', ...fields }, run_id);
  }
});

test('everywhere else an unknown field is refused, and named', async (t) => {
  cites(t, 'contract-9-unknown-field', 'contract-4-strict');
  const colour = { colour: 'red' };
  for (const line of [
    'POST /v2/integrations',
    'PATCH /v2/integrations/demo',
    'PUT /v2/integrations/demo/members/ann',
    'POST /v2/integrations/demo/chats',
    'POST /v2/integrations/demo/runs/run_1/cancel',
    'POST /v2/api_keys',
  ]) {
    const [method = '', path = ''] = line.split(' ');
    await refused(api.call(method, path, colour), /`colour` is not a known field/);
  }
  await refused(api.post('/v2/owners', { email: 'a@example.com', ...colour }), /`colour` is not a known field/);
  const member = (fields: object) => api.put('/v2/integrations/demo/members/ann', fields);
  await refused(member({ allowance: { limit: 1, ...colour } }), /allowance\.colour/);
  for (const active of ['true', 1, 0, 'yes', null]) {
    await refused(member({ active }), /`active` must be of type boolean/);
  }
  const allowances = { unit: 'runs', limit: '5', period: 'day' };
  await refused(api.post('/v2/integrations', { allowances }), /`allowances\.limit` must be of type integer/);
  assert.equal((await api.get('/v2/integrations/demo/members/ann')).status, 404, 'refused: nothing was made');
});

test('chosen ids have 1 to 256 characters and are compared byte for byte', async (t) => {
  cites(t, 'contract-4-ids', 'contract-9-characters');
  const longest = '😀'.repeat(256);
  const member = (id: string) => `/v2/integrations/demo/members/${encodeURIComponent(id)}`;
  assert.equal((await api.put(member(longest), {})).status, 201);
  assert.equal((await api.get(member(longest))).body.consumerId, longest);
  const all = { chatId: longest, aliasChatId: longest, consumerId: longest, usageRequestId: longest };
  const meta = await taken(all);
  for (const [field, value] of Object.entries(all)) assert.equal(meta[field], value, field);
  for (const field of Object.keys(all)) {
    await wrong({ [field]: `${longest}a` }, new RegExp(`\`${field}\` must have at most 256 characters`));
    for (const control of ['\0', '\n', '\x1f', '\x7f', '\x9f']) {
      await wrong({ [field]: `a${control}b` }, new RegExp(`\`${field}\` must not contain control characters`));
    }
  }
  for (const field of ['chatId', 'aliasChatId']) await wrong({ [field]: '' }, /must have at least 1 characters/);
  await refused(api.put(member(`${longest}a`), {}), /`consumerId` must have at most 256 characters/);
  await refused(api.put(member('a\n'), {}), /`consumerId` must not contain control characters/);
  await refused(api.put(member(' \u3000'), {}), /not blank/);
  await refused(complete({ consumerId: '\u200b' }), /not a member/, 404, 'member_not_found');
  const different = ['é', 'e\u0301', 'E\u0301', 'a', 'A', 'a ', ' a', '\uff41'];
  for (const id of different) await taken({ chatId: id, usageRequestId: id });
  for (const id of different) {
    const chat = (await api.get(`/v2/integrations/demo/chats/${encodeURIComponent(id)}`)).body;
    assert.deepEqual([chat.chatId, chat.numMessages], [id, 2]);
    const status = `/v2/integrations/demo/chat_status?usageRequestId=${encodeURIComponent(id)}`;
    assert.deepEqual((await api.get(status)).body.run.usageRequestId, id);
  }
});

test('refuses duplicate members, non-UTF-8, lone surrogates, 65 levels', async (t) => {
  cites(t, 'contract-4-json-traps');
  const nested = (depth: number) => `{"user_context":${'{"a":'.repeat(depth - 1)}1${'}'.repeat(depth - 1)}`;
  const rest = ',"apiIntegrationId":"demo","message":"Hi"}';
  assert.equal((await send(nested(64) + rest)).status, 200);
  const traps: readonly (readonly [string | Uint8Array<ArrayBuffer>, RegExp])[] = [
    [nested(65) + rest, /nested deeper than 64 levels/],
    [`{"message":"a"${rest}`, /"message" twice in one object: see line 1, column 42\.$/],
    [`{"user_context":{"a":1,"\\u0061":2}${rest}`, /"a" twice/],
    [`{"user_context":"\\ud800"${rest}`, /`user_context` contains a lone surrogate/],
    [`{"user_context":{"\\udc00":1}${rest}`, /lone surrogate/],
    [new Uint8Array(Buffer.from(`{"user_context":"\xff"${rest}`, 'latin1')), /not valid UTF-8: see byte 17\.$/],
    [`\ufeff{"a":1${rest}`, /byte order mark/],
    [`{"a":1,${rest}`, /not valid JSON: see line 1, column 8\.$/],
    ['{"apiIntegrationId":"demo"', /not valid JSON: it ends too early, at line 1, column 27\.$/],
    ['{"apiIntegrationId":"demo",\n "message": Hi}', /not valid JSON: see line 2, column 13\.$/],
    [`{"user_context":"\u{1f600}",\n\n"a" 1${rest}`, /not valid JSON: see line 3, column 5\.$/],
    ['{"message":"a\tb"}', /not valid JSON: see line 1, column 12\.$/],
  ];
  const headers = { ...api.authorization, 'content-type': 'application/json' };
  const paths = { POST: '/get_completion_v2', PUT: '/v2/integrations/demo/members/trap' };
  for (const [body, says] of traps) {
    for (const [method, path] of Object.entries(paths)) {
      const answer = await fetch(server.url + path, { method, headers, body });
      const { error, code } = (await answer.json()) as { error: string; code: string };
      assert.deepEqual([answer.status, code], [400, 'invalid_request'], error);
      assert.match(error, says);
      assert.equal(answer.headers.get('x-agent-run-admitted'), method === 'POST' ? 'false' : null);
    }
  }
});

test('wrong media types and sizes are 400, 415 or 413 by path', async (t) => {
  cites(
    t,
    'contract-4-media-and-size',
    'contract-4-media-and-size-elsewhere',
    'contract-4-charset',
    'contract-8-400-completions',
    'contract-8-413-body-too-large',
    'contract-8-415-unsupported-media-type',
    'spec-4-json',
    'spec-4.1-headers',
  );
  const good = JSON.stringify({ apiIntegrationId: 'demo', message: 'Hi' });
  const large = JSON.stringify({ apiIntegrationId: 'demo', message: 'x'.repeat(100_000) });
  const post = (path: string, body: string | ReadableStream, type: string) =>
    fetch(server.url + path, {
      method: 'POST',
      headers: { ...api.authorization, 'content-type': type },
      body: typeof body === 'string' ? Buffer.from(body) : body,
      duplex: 'half',
    });
  const json = [
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/json;charset="UTF-8"',
    'application/json; profile=a; Charset=utf8',
  ];
  for (const type of json) {
    const answer = await post('/get_completion_v2', good, type);
    assert.equal(answer.status, 200, type);
    assert.match(await answer.text(), /event: end/);
  }
  const streamed = () => new Blob([large]).stream();
  const others = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=a',
    'text/json',
    '',
    'nonsense',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-16',
    'application/json; charset=us-ascii',
    'application/json; charset=utf-8; charset=latin1',
  ];
  for (const path of ['/get_completion_v2', '/get_completion_v2/', '/v2/api_keys', '/create_agency_upload']) {
    const isCompletion = path.startsWith('/get_completion_v2');
    const expect = async (answer: Response, status: number, code: string) => {
      const body = (await answer.json()) as { code: string; error: string };
      assert.deepEqual([answer.status, body.code], [isCompletion ? 400 : status, code], path);
      if (code === 'body_too_large') assert.match(body.error, /larger than 100000 bytes;/);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
      assert.equal(answer.headers.get('x-agent-run-admitted'), isCompletion ? 'false' : null);
    };
    for (const type of others) await expect(await post(path, good, type), 415, 'unsupported_media_type');
    await expect(await post(path, large, 'application/json'), 413, 'body_too_large');
    await expect(await post(path, streamed(), 'application/json'), 413, 'body_too_large');
  }
});

test('an empty body counts as no body, whatever its media type', async (t) => {
  cites(t, 'contract-4-charset');
  const types = ['application/json', 'text/plain', 'nonsense', '', 'application/json; charset=latin1'];
  const empty = async (path: string, type: string, chunked: boolean) => {
    const framing = chunked ? 'transfer-encoding: chunked\r\n\r\n0\r\n\r\n' : 'content-length: 0\r\n\r\n';
    const key = `authorization: ${api.authorization.authorization}\r\nconnection: close\r\n`;
    const connection = new RawConnection(server.url);
    connection.send(`POST ${path} HTTP/1.1\r\nhost: x\r\n${key}content-type: ${type}\r\n${framing}`);
    const answer = await connection.closed;
    return { status: Number(answer.slice(9, 12)), code: JSON.parse(answer.slice(answer.indexOf('{'))).code };
  };
  for (const type of types) {
    for (const chunked of [false, true]) {
      const cancel = await empty('/v2/integrations/demo/runs/run_nowhere/cancel', type, chunked);
      assert.deepEqual(cancel, { status: 404, code: 'run_not_found' }, `${type} ${chunked}`);
      const completion = await empty('/get_completion_v2', type, chunked);
      assert.deepEqual(completion, { status: 400, code: 'invalid_request' }, `${type} ${chunked}`);
    }
  }
});

test('null equals absent when a chat is created', async (t) => {
  cites(t, 'contract-4-charset');
  const fields = { chatId: null, aliasChatId: null, consumerId: null };
  const { status, body } = await api.post('/v2/integrations/demo/chats', fields);
  assert.deepEqual([status, body.aliasChatId, body.consumerId], [201, null, null]);
  assert.match(body.chatId, /^chat_/);
});

test('an error about a pattern explains what is allowed', async () => {
  await refused(
    api.post('/v2/integrations', { apiIntegrationId: '-a' }),
    /1 to 64 letters, digits, `_` or `-` \(ASCII\)/,
  );
  await refused(
    api.post('/create_agency_upload', signing(1, { filename: 'a/b' })),
    /^`filename` must not contain `\/`, `\\` or control characters\.$/,
  );
  const patterns = new Set<string>();
  const collect = (value: unknown): void => {
    if (value === null || typeof value !== 'object') return;
    for (const [key, below] of Object.entries(value)) {
      if (key === 'pattern' && typeof below === 'string') patterns.add(below);
      else collect(below);
    }
  };
  collect([namedSchemas, operations]);
  assert.ok(patterns.size >= 3);
  for (const pattern of patterns) assert.ok(pattern in patternSentences, pattern);
});

test('a body that may be left out may not be null', async () => {
  const path = '/v2/integrations/demo/runs/run_nowhere/cancel';
  await refused(api.post(path, 'null'), /The body must be of type object/);
  await refused(api.post(path), /no such run/, 404, 'run_not_found');
});

test('a body that was read whole and refused leaves its connection open', async () => {
  const connection = new RawConnection(server.url);
  connection.send(`${jsonHead('POST /get_completion_v2', 11)}{"message":`);
  await until(() => connection.text.includes('invalid_request'));
  assert.doesNotMatch(connection.text, /^connection: close/im);
  connection.socket.destroy();
});
