import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ApiClient,
  answerOf,
  type FileServer,
  type Frame,
  follow,
  type ModelCall,
  type ServerProcess,
  type StreamReader,
  type UploadPoint,
  type WaitPoint,
} from '@runwire/test-kit';
import type { Claims } from './claims.ts';
import { rawUpload, sendRaw } from './multipart-load.ts';
import { expectEqual, expectNumber, within } from './proof.ts';
import { signed } from './signed-form.ts';

/* What callers do while the disk fills, and what must be stored when there is space again. */

const WAIT_MS = 60_000;
const MEMBER = 'ann';
const DEMO = '/v2/integrations/demo';
/** Larger than what a database has free in its pages: a checkpoint after it needs space. */
const MESSAGE_BYTES = 96 * 1024;
const FILE_BYTES = 300_000;
/** After failed flushes the next one follows within 1 s. */
const FLUSH_MS = 1500;
const ATTACHED = 'Attached by its URL.';

export interface Scene {
  readonly server: ServerProcess;
  readonly claims: Claims;
  readonly files: FileServer;
  /** True if the events of a run are compacted as soon as it has ended: then fewer are stored than its reader got. */
  readonly compacts: boolean;
  readonly over: AbortSignal;
}

/** Called when there is space again: does what was refused once more, and checks everything that was acknowledged. */
export type Finish = () => Promise<void>;
/** Does something under this id that reaches the point. */
export type Act = (scene: Scene, id: string) => Promise<Finish>;

/** Each message is large and new, and names what the model does. */
const message = (script: string) => `${script} ${randomBytes(MESSAGE_BYTES / 2).toString('hex')}`;
export const bodyOf = (id: string, script = 'speak') => ({ consumerId: MEMBER, chatId: id, message: message(script) });

/** The model sends two words. The script can ask for a tool before them, a pause between them, or no end at all. */
export async function play(call: ModelCall): Promise<void> {
  const script = call.request.prompt.map((item) => (item.kind === 'user' ? item.text : '')).join('');
  if (script.startsWith('useTool') && !call.request.prompt.some(({ kind }) => kind === 'tool_output')) {
    await call.toolCall(`call-${call.request.runId}`, 'echo', '{"a":1}');
    return call.end();
  }
  await call.text('One ');
  if (script.startsWith('cancel') || (script.startsWith('wait') && call.request.attempt === 1)) return;
  await sleep(script.startsWith('talk') ? FLUSH_MS : 0);
  await call.text('two.');
  await call.end();
}

/** Posts until it is admitted: a refusal by a full disk must store nothing. */
async function postAgain({ server, claims }: Scene, body: Readonly<Record<string, unknown>>, id: string) {
  let reader: StreamReader | null = null;
  while (reader === null) {
    await sleep(200);
    reader = await claims.post(server.api, body, id);
  }
  return reader;
}

/** Returns the frames that a reader keeps: a `resumed` makes void the frames after the event that it names. */
function withoutVoid(all: readonly Frame[]): readonly Frame[] {
  let frames = all;
  for (const { event, data, id } of all) {
    if (event !== 'resumed') continue;
    const { discard_after: last } = JSON.parse(data) as { discard_after: number };
    frames = frames.filter((other) => other.id <= last || other.id >= id);
  }
  return frames;
}

/** Checks that the run ends, and that its reader got what is stored. */
export async function checkRun(scene: Scene, reader: StreamReader, status: string, answer: string): Promise<void> {
  const { api } = scene.server;
  const { runId, frames } = await within(
    'end of a run',
    WAIT_MS,
    follow(reader, () => [api], 'demo', scene.over),
  );
  expectEqual('answer of a run', answerOf(frames), answer);
  const { body: run } = await api.get(`${DEMO}/runs/${runId}`);
  expectEqual('a run in the store', [run.status, run.message], [status, answer]);
  const replay = await api.events(runId, null);
  await within('end of a replay', WAIT_MS, replay.over);
  if (scene.compacts) expectEqual('stored answer', [replay.answer, replay.frames.at(-1)], [answer, frames.at(-1)]);
  else expectEqual('stored events', withoutVoid(replay.frames), withoutVoid(frames));
}

const speak =
  (script: string, attachments?: (scene: Scene) => readonly unknown[]): Act =>
  async (scene, id) => {
    const more = attachments === undefined ? {} : { attachments: attachments(scene) };
    const body = { ...bodyOf(id, script), ...more };
    const posted = scene.claims.post(scene.server.api, body, id);
    return async () => {
      const reader = (await within('answer to a post', WAIT_MS, posted)) ?? (await postAgain(scene, body, id));
      await checkRun(scene, reader, 'completed', 'One two.');
    };
  };

const attach = speak('speak', ({ files }) => [
  { type: 'input_file', file_url: files.serve(`/${randomBytes(8).toString('hex')}.txt`, ATTACHED, 'text/plain') },
]);

const cancel: Act = async (scene, id) => {
  const { api } = scene.server;
  const reader = await postAgain(scene, bodyOf(id, 'cancel'), id);
  await within('first word', WAIT_MS, reader.untilText('One '));
  const send = () => api.post(`${DEMO}/runs/${reader.headers['x-run-id']}/cancel`);
  const first = send();
  first.catch(() => {});
  return async () => {
    await within('answer to a cancel', WAIT_MS, first);
    expectNumber('status of a cancel with space', (await send()).status, 200);
    await checkRun(scene, reader, 'cancelled', 'One ');
  };
};

const change: Act = async ({ server: { api } }, id) => {
  const path = `${DEMO}/members/${MEMBER}`;
  const put = () => api.put(path, { metadata: { id, text: message('') } });
  const first = put();
  first.catch(() => {});
  const isStored = async () => (await api.get(path)).body.metadata?.id === id;
  return async () => {
    const { status } = await within('answer to a PUT', WAIT_MS, first);
    expectEqual('whether a member is changed', await isStored(), status === 200);
    if (status !== 200) expectNumber('status of a PUT with space', (await put()).status, 200);
    expectEqual('whether a member is changed', await isStored(), true);
  };
};

async function form(api: ApiClient, id: string) {
  const terms = { folder: '/app/mnt/full', filename: id, contentType: 'text/plain', sizeBytes: FILE_BYTES };
  const { uploadUrl, uploadFields } = await signed(api, terms);
  return { path: new URL(uploadUrl).pathname, uploadFields };
}

/** Signs an upload while there is space. `send` sends it later. */
export async function prepareUpload({ url, api }: ServerProcess, id: string) {
  const { path, uploadFields } = await form(api, id);
  const bytes = randomBytes(FILE_BYTES);
  const send = () => sendRaw(url, rawUpload(path, uploadFields, bytes));
  const isStored = async () => {
    const address = `${url}${DEMO}/files/content?path=${encodeURIComponent(`/app/mnt/full/${id}`)}`;
    const answer = await fetch(address, { headers: api.authorization });
    const content = Buffer.from(await answer.arrayBuffer());
    return answer.status === 200 && content.equals(bytes);
  };
  return { send, isStored };
}

const upload: Act = async ({ server }, id) => {
  const { send, isStored } = await prepareUpload(server, id);
  const first = send();
  first.catch(() => {});
  return async () => {
    const status = await within('answer to an upload', WAIT_MS, first);
    // A file that was not acknowledged may be stored.
    if (status === 204) expectEqual('whether an acknowledged file is stored', await isStored(), true);
    else expectNumber('status of an upload with space', await send(), 204);
    expectEqual('whether a file is stored', await isStored(), true);
  };
};

const ACTS: Readonly<Record<string, Act>> = {
  step: speak('useTool'),
  flush: speak('talk'),
  attachment: attach,
  cancel,
  'cancel-intent': cancel,
  account: change,
};

export function actFor(point: WaitPoint | UploadPoint): Act {
  if (point.startsWith('upload-')) return upload;
  return ACTS[point.slice(0, point.lastIndexOf('.'))] ?? speak('speak');
}
