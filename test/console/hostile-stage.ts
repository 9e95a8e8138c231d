import type { ApiClient } from '@runwire/test-kit';
import { expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import type { Files } from '../support/agencies-folder.ts';
import { upload } from '../support/uploads.ts';
import type { ConsoleRig } from './console-rig.ts';
import { CONTROLS, DEEP, type HostileText, LONG, MARKDOWN, markdownMarks, NAMES } from './hostile-texts.ts';

/* Puts hostile texts into everything that people, models, tools and files can name, by the public API. */

export const INTEGRATION = 'evil';
const PATH = `/v2/integrations/${INTEGRATION}`;
/** A member with a harmless id, for what a person types. */
export const MEMBER = 'm-null';
const FOLDER = '/app/mnt/evil';
const [FIRST = { mark: '', text: '' }] = NAMES;

/** A page, and what it must show. */
export interface HostilePage {
  /** Below `/console/`. */
  readonly path: string;
  /** These texts, whole. */
  readonly texts?: readonly string[];
  /** At least these words. */
  readonly marks?: readonly string[];
  /** The status of a refusal that the page shows. */
  readonly refusal?: number;
}

const TOOLS = `import { defineTool } from '@runwire/agency';

const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const toText = (input: unknown) => (input as { text: string }).text;

export const repeat = defineTool({
  name: 'repeat',
  description: ${JSON.stringify(FIRST.text)},
  inputSchema,
  execute: toText,
});

export const ask = defineTool({
  name: 'ask',
  description: 'Asks a person first.',
  inputSchema,
  needsApproval: true,
  execute: toText,
});

export const fail = defineTool({
  name: 'fail',
  description: 'Fails with its text.',
  inputSchema,
  execute: (input) => {
    throw new Error(toText(input));
  },
});
`;

const quoted = JSON.stringify(FIRST.text);

export const HOSTILE_AGENCIES: Files = {
  'evil/agency.yaml': `name: ${quoted}
toolFiles: [./tools.ts]
agents:
  - name: Evil
    description: ${quoted}
    instructions: ${quoted}
    tools: [repeat, ask, fail]
    reasoning: { effort: low }
    starters: [${quoted}]
`,
  'evil/tools.ts': TOOLS,
};

/** Fills the store, and resolves to the pages that show what it has. */
export async function stageHostileTexts(rig: ConsoleRig): Promise<readonly HostilePage[]> {
  const { api } = rig;
  const integration = { name: FIRST.text, agency: 'evil', fileAccess: 'all' };
  const allowances = { unit: 'tokens', limit: 1e12, period: 'month' };
  await made(api.post('/v2/integrations', { apiIntegrationId: INTEGRATION, allowances, ...integration }));
  return [
    ...(await stageAccounts(api)),
    ...(await stageMembers(api)),
    ...(await stageFiles(api)),
    ...(await stageSchedules(api)),
    ...(await stageWebhooks(api)),
    ...(await stageChats(api)),
    ...strangePages,
  ];
}

async function made(answering: Promise<{ readonly status: number }>, status = 201): Promise<void> {
  expectEqual('status of what is hostile', (await answering).status, status);
}

const texts = (hostile: readonly HostileText[]) => hostile.map(({ text }) => text);

async function stageAccounts(api: ApiClient): Promise<readonly HostilePage[]> {
  const names = [...NAMES, ...CONTROLS];
  for (const { text: name } of names) await made(api.post('/v2/api_keys', { name }));
  for (const [index, { text: name }] of names.entries()) {
    await made(api.post('/v2/owners', { email: `evil-${index}@example.com`, name }));
  }
  await made(api.patch('/v2/me', { name: FIRST.text }), 200);
  return [
    { path: 'keys', texts: texts(names) },
    { path: 'owners', texts: texts(names) },
    { path: 'profile', texts: [FIRST.text] },
    { path: 'integrations', texts: [FIRST.text] },
    { path: `integrations/${INTEGRATION}`, texts: [FIRST.text] },
    { path: `integrations/${INTEGRATION}?tab=settings`, texts: [FIRST.text] },
    { path: 'agencies', texts: [FIRST.text] },
    { path: 'agencies/evil', texts: [FIRST.text] },
    { path: 'health' },
  ];
}

async function stageMembers(api: ApiClient): Promise<readonly HostilePage[]> {
  const reasons = [...NAMES, ...CONTROLS];
  for (const { text } of NAMES) {
    // A member may have the attack as id and as name.
    await made(
      api.put(`${PATH}/members/${encodeURIComponent(getId(text))}`, { name: text, metadata: { [text]: text } }),
    );
  }
  for (const { mark, text: name } of CONTROLS)
    await made(api.put(`${PATH}/members/${mark}`, { name, metadata: { name } }));
  for (const [index, { text: reason }] of reasons.entries()) {
    const adjustment = { unit: 'tokens', amount: -1 - index, reason, idempotencyKey: `${index} ${FIRST.text}` };
    await made(api.post(`${PATH}/members/${encodeURIComponent(getId(FIRST.text))}/adjustments`, adjustment));
  }
  const members = `integrations/${INTEGRATION}/members`;
  return [
    { path: members, texts: texts([...NAMES, ...CONTROLS]) },
    { path: `${members}?q=${encodeURIComponent(FIRST.text)}`, texts: [FIRST.text] },
    ...NAMES.map(({ text }) => ({ path: `${members}/${encodeURIComponent(getId(text))}`, texts: [text] })),
    { path: `${members}/${encodeURIComponent(getId(FIRST.text))}`, marks: getMarks(reasons).slice(-4) },
    ...CONTROLS.map(({ mark, text }) => ({ path: `${members}/${mark}`, texts: [text] })),
    { path: `integrations/${INTEGRATION}/usage?splitBy=member`, marks: [FIRST.mark] },
    { path: `integrations/${INTEGRATION}/usage?splitBy=agent` },
    { path: `integrations/${INTEGRATION}/usage?member=${encodeURIComponent(getId(FIRST.text))}` },
  ];
}

/** What callers name is in addresses and descriptions. No host has the address, so every attempt fails. */
async function stageWebhooks(api: ApiClient): Promise<readonly HostilePage[]> {
  const webhooks = `integrations/${INTEGRATION}/webhooks`;
  const hostile = [...NAMES, ...CONTROLS];
  const pages = hostile.map(async ({ text }): Promise<HostilePage[]> => {
    const url = `https://evil.invalid/?${encodeURIComponent(text)}`;
    const { status, body } = await api.post(`/v2/${webhooks}`, { url, description: text });
    expectEqual('status of a hostile endpoint', status, 201);
    const path = `${webhooks}/${body.endpointId}`;
    const tested = await api.post(`/v2/${path}/test`, {});
    expectEqual('status of a test', tested.status, 202);
    return [
      { path, texts: [text] },
      { path: `${path}/${tested.body.deliveryId}`, texts: ['webhook.test'] },
    ];
  });
  return [{ path: webhooks, marks: getMarks(hostile) }, ...(await Promise.all(pages)).flat()];
}

/** What callers name is in names and requests. */
async function stageSchedules(api: ApiClient): Promise<readonly HostilePage[]> {
  const schedules = `integrations/${INTEGRATION}/schedules`;
  const hostile = [...NAMES, ...CONTROLS];
  const pages = hostile.map(async ({ mark, text }): Promise<HostilePage> => {
    const request = { message: text, user_context: { [text]: text } };
    const schedule = { name: text, cron: '0 9 1 1 *', request };
    const { status, body } = await api.post(`/v2/${schedules}`, schedule);
    expectEqual('status of a hostile schedule', status, 201);
    return { path: `${schedules}/${body.scheduleId}`, marks: [mark] };
  });
  return [{ path: schedules, marks: getMarks(hostile) }, ...(await Promise.all(pages))];
}

/** U+0085 is a control character, which ids may not have. */
const getId = (text: string) => text.replaceAll('\u0085', '');

/** A name of a file may have everything but slashes, control characters and separators of lines. */
const getFileName = (text: string) => text.replaceAll(/[/\\]/g, '|').replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '');
const FILE_NAMES = NAMES.map(({ text }) => getFileName(text));
/** A folder may not have marks of writing direction either. */
const FOLDER_NAMES = FILE_NAMES.filter((name) => !/\p{Bidi_Control}/u.test(name)).map((name) => `folder ${name}`);

interface HostileChat {
  readonly name: string;
  readonly message: string;
  /** Everything that shows the chat shows these. */
  readonly marks: readonly string[];
  /** Attached by an address, and from the folder of files. */
  readonly fileNames?: readonly string[];
  /** True if a tool asks for an approval. */
  readonly isAsking?: true;
}

const joined = (hostile: readonly HostileText[]) => texts(hostile).join('\n\n');
const getMarks = (hostile: readonly HostileText[]) => hostile.map(({ mark }) => mark);

const MAX_ATTACHMENTS = 5;

function splitChunks<T>(items: readonly T[], size: number): (readonly T[])[] {
  const chunks: (readonly T[])[] = [];
  for (let start = 0; start < items.length; start += size) chunks.push(items.slice(start, start + size));
  return chunks;
}

const FILE_URL = 'https://evil.invalid/%3Cscript%3E.txt';

const CHATS: readonly HostileChat[] = [
  { name: 'names', message: `say ${joined(NAMES)}`, marks: getMarks(NAMES) },
  { name: 'controls', message: `say ${joined(CONTROLS)}`, marks: getMarks(CONTROLS) },
  { name: 'markdown', message: `say ${MARKDOWN}`, marks: markdownMarks },
  { name: 'message', message: MARKDOWN, marks: markdownMarks },
  { name: 'long', message: `say ${LONG.text}`, marks: [LONG.mark] },
  ...DEEP.map(({ mark, text }) => ({ name: mark, message: `say ${text}`, marks: [mark] })),
  ...['repeat', 'fail'].flatMap((tool) =>
    [MARKDOWN, LONG.text, joined(CONTROLS)].map((text) => ({
      name: `${tool}-${text.length}`,
      message: `tool ${tool} ${JSON.stringify({ text })}`,
      marks: [/m-\w+/.exec(text)?.[0] ?? ''],
    })),
  ),
  ...[joined(NAMES), MARKDOWN, LONG.text, joined(CONTROLS)].map((text) => ({
    name: `ask-${text.length}`,
    // The model writes the arguments, also the names of fields.
    message: `tool ask ${JSON.stringify({ [FIRST.text]: 0, text })}`,
    marks: [/m-\w+/.exec(text)?.[0] ?? ''],
    isAsking: true as const,
  })),
  ...splitChunks(FILE_NAMES, MAX_ATTACHMENTS).map((fileNames, index) => ({
    name: `files-${index}`,
    message: 'm-attached',
    marks: ['m-attached'],
    fileNames,
  })),
];

async function stageChats(api: ApiClient): Promise<readonly HostilePage[]> {
  const pages: HostilePage[] = [];
  const chats = `integrations/${INTEGRATION}`;
  let before: string | null = null;
  for (const [index, { name, message, marks, fileNames = [], isAsking = false }] of CHATS.entries()) {
    const { text } = NAMES[index % NAMES.length] ?? FIRST;
    const chatId = getId(`${name} ${text}`);
    const ids = { chatId, consumerId: getId(text), usageRequestId: getId(`${index} ${text}`) };
    // No host has the address, so the run fails.
    const attachments = fileNames.map((filename) => ({ type: 'input_file', file_url: FILE_URL, filename }));
    const sandboxFiles = fileNames.map((fileName) => ({ path: `${FOLDER}/${fileName}`, name: fileName }));
    const files = { attachments, sandboxFiles };
    const body = { apiIntegrationId: INTEGRATION, ...ids, message, ...files, user_context: { text } };
    const reader = await api.complete(body);
    expectEqual(`status of the run ${name}`, reader.status, 200);
    await within(`end of the run ${name}`, WAIT_MS, reader.over);
    const runId = String(reader.headers['x-run-id']);
    const run = `${chats}/runs/${runId}`;
    const path = encodeURIComponent(chatId);
    await made(api.patch(`${PATH}/chats/${path}`, { title: text }), 200);
    const addressed = `chat=${path}&member=${encodeURIComponent(ids.consumerId)}`;
    pages.push(
      {
        path: `${chats}/chats/${path}`,
        marks,
        texts: [...fileNames, ...(isAsking ? ['A call waits for an answer.'] : [])],
      },
      { path: `${chats}/playground?${addressed}`, marks, texts: isAsking ? ['Approve the call of ask?'] : [] },
      { path: run, marks, texts: fileNames },
      { path: `${run}/compare?with=${before ?? runId}`, marks },
      ...['details', 'events', 'json'].map((tab) => ({ path: `${run}?tab=${tab}&step=1` })),
    );
    before = runId;
  }
  return [
    { path: `${chats}/chats`, marks: getMarks(NAMES) },
    { path: `${chats}/runs`, marks: getMarks(NAMES) },
    { path: `${chats}/runs?member=${encodeURIComponent(getId(FIRST.text))}`, marks: [FIRST.mark] },
    { path: 'approvals', marks: CHATS.filter(({ isAsking }) => isAsking).flatMap(({ marks }) => marks) },
    ...['runs', 'chats', 'usage'].map((tab) => ({
      path: `${chats}/members/${encodeURIComponent(getId(FIRST.text))}?tab=${tab}`,
    })),
    ...pages,
  ];
}

const HTML = `<!doctype html><title>m-page</title><script>window.hostile=1</script><img src="https://evil.example/page.png">`;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="window.hostile=1"><script>window.hostile=1</script>
<image href="https://evil.example/picture.png"/><text>m-picture</text></svg>`;

async function stageFiles(api: ApiClient): Promise<readonly HostilePage[]> {
  const file = (filename: string, content: string, contentType: string, folder = FOLDER) =>
    upload(api, content, { apiIntegrationId: INTEGRATION, folder, filename, contentType });
  for (const name of FOLDER_NAMES) await file('inner.txt', name, 'text/plain', `${FOLDER}/${name}`);
  for (const name of FILE_NAMES) await file(name, name, 'text/plain');
  const contents = [
    { name: 'page.html', content: HTML, type: 'text/html', shown: HTML },
    { name: 'picture.svg', content: SVG, type: 'image/svg+xml', shown: SVG },
    { name: 'page.png', content: HTML, type: 'image/png', shown: HTML },
    { name: 'long.txt', content: LONG.text, type: 'text/plain', shown: LONG.mark },
    { name: 'null.txt', content: 'm-null a\u0000b', type: 'text/plain', shown: 'm-null a\u0000b' },
    { name: 'markdown.md', content: MARKDOWN, type: 'text/markdown', shown: 'm-html' },
    { name: 'table.csv', content: `m-table,"${HTML.replaceAll('"', '""')}"\n`, type: 'text/csv', shown: HTML },
  ];
  // The list of the other folder is in view as a whole.
  const folder = `${FOLDER}-contents`;
  for (const { name, content, type } of contents) await file(name, content, type, folder);
  const page = (folder: string) => `integrations/${INTEGRATION}/files?folder=${encodeURIComponent(folder)}`;
  const preview = (name: string, at = FOLDER) => `${page(at)}&file=${encodeURIComponent(`${at}/${name}`)}`;
  return [
    { path: page(FOLDER), texts: [...FOLDER_NAMES, ...FILE_NAMES] },
    ...FOLDER_NAMES.map((name) => ({ path: page(`${FOLDER}/${name}`), texts: [name, 'inner.txt'] })),
    ...FILE_NAMES.map((name) => ({ path: preview(name), texts: [name] })),
    ...contents.map(({ name, shown }) => ({ path: preview(name, folder), texts: [shown] })),
  ];
}

/** Addresses that a person could be lured to. */
const strangePages: readonly HostilePage[] = [
  'm-image <img src=x onerror=hostile=1>',
  'javascript:hostile=1',
  '\u202Em',
].flatMap((text) => {
  const id = encodeURIComponent(text);
  return [
    { path: `integrations/${id}/members`, refusal: 404 },
    { path: `integrations/${INTEGRATION}/members/${id}`, refusal: 404 },
    { path: `integrations/${INTEGRATION}/runs/${id}`, refusal: 404 },
    { path: `integrations/${INTEGRATION}/chats/${id}`, refusal: 404 },
    { path: `integrations/${INTEGRATION}/members?q=${id}` },
    { path: `agencies/${id}` },
    { path: `no-such-page/${id}?next=${id}#${id}` },
    { path: `sign-in?next=${id}` },
  ];
});
