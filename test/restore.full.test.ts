import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type ApiClient,
  imageAttachment,
  type ModelCall,
  makePng,
  postgresFolder,
  Rig,
  temporaryFolder,
} from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, expectAtLeast, expectEqual, Shortfall, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { backup } from '../packages/server/src/commands/backup.ts';
import { restore } from '../packages/server/src/commands/restore.ts';
import { FileLoad, INTEGRATION } from './support/file-load.ts';
import { type Body, checkReplay, checkStory, expectAllowance, listAll, whole } from './support/story.ts';

/*
 * A backup of servers under load. While it is taken, runs end and files are uploaded, replaced and deleted: what the backup
 * holds must be of one moment. It is restored into an empty place, and a server there is asked everything.
 */

type Overrides = NonNullable<Parameters<typeof backup>[2]>;

const PATH = `/v2/integrations/${INTEGRATION}`;
const MEMBERS = ['ann', 'bob', 'eve'];
const CALLERS = 3;
const HELD = 2;
/** A run with this message stays at its second call of the model until it may continue. */
const HOLD = 'hold';
/** The tables that one end of a run writes, spread over the backup. */
const PAUSES = ['messages', 'runs', 'usage_days', 'attachments'];

/** Callers that send one message after the other, and the model of all servers: each run calls a tool, and answers. */
class Load {
  /** Every request that was sent, by its `usageRequestId`. */
  readonly sent = new Map<string, Body>();
  completed = 0;
  held = 0;
  readonly mayEnd = Promise.withResolvers<void>();
  readonly #rig: Rig;
  readonly #callers: Promise<void>[];
  #isStopped = false;

  constructor(rig: Rig) {
    this.#rig = rig;
    this.answer(rig);
    this.#callers = Array.from({ length: CALLERS }, (_, caller) => this.#call(caller));
  }

  answer({ model }: Rig): void {
    model.onCall = async (call: ModelCall) => {
      const { prompt, step, runId } = call.request;
      const said = prompt.findLast((item) => item.kind === 'user')?.text ?? '';
      if (step === 1) {
        await call.text('Let me see. ');
        await call.toolCall(`call-${runId}`, 'echo', JSON.stringify({ said }));
        return call.end();
      }
      if (said === HOLD) {
        this.held += 1;
        await call.text('So far ');
        await this.mayEnd.promise;
      }
      await call.text(`You said ${said}.`);
      await call.end();
    };
  }

  async #post(chat: string, turn: number, message: string, hasImage: boolean) {
    const consumerId = MEMBERS[turn % MEMBERS.length] ?? '';
    const attachments = hasImage ? [imageAttachment(makePng(2000 + this.sent.size, turn % 256))] : [];
    const ids = { apiIntegrationId: INTEGRATION, consumerId, chatId: `${chat}-${consumerId}` };
    const body = { ...ids, message, attachments, usageRequestId: `${chat}/${turn}` };
    this.sent.set(body.usageRequestId, body);
    return await within('head of a post', WAIT_MS, this.#rig.api(this.sent.size).complete(body));
  }

  async #call(caller: number): Promise<void> {
    for (let turn = 1; !this.#isStopped; turn += 1) {
      const reader = await this.#post(`chat-${caller}`, turn, `word ${turn}`, turn % 3 === 0);
      await within('end of a stream', WAIT_MS, reader.over);
      this.completed += 1;
    }
  }

  /** Sends messages whose runs do not end. */
  async hold(): Promise<void> {
    for (let place = 0; place < HELD; place += 1) await this.#post(`held-${place}`, place, HOLD, place % 2 === 0);
    await until('held runs', () => this.held >= HELD);
  }

  /** Resolves when so many more runs have ended. */
  async more(runs: number): Promise<void> {
    const target = this.completed + runs;
    const failed = Promise.all(this.#callers);
    await Promise.race([until(`${runs} more runs`, () => this.completed >= target, { pauseMs: 5 }), failed]);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#callers);
  }
}

/** Waits at some tables until more runs have ended. The faults are planted here. */
const slowly = (load: Load, files: FileLoad, between: number, fault: string | null): Overrides => ({
  wrapSnapshot: (snapshot, again) => {
    const read = new Set<string>();
    // The second time that a table is read, its blobs are copied.
    const forgotten = { 'forget-images': 'blobs', 'forget-files': 'files' }[fault ?? ''];
    const source = async (table: string) => {
      if (PAUSES.includes(table)) await Promise.all([load.more(between), files.later()]);
      if (table === forgotten && read.has(table)) return null;
      read.add(table);
      return fault === 'torn' ? await again() : snapshot;
    };
    return {
      kind: snapshot.kind,
      migrations: () => snapshot.migrations(),
      columns: (table) => snapshot.columns(table),
      async *rows(table, columns) {
        yield* (await source(table))?.rows(table, columns) ?? [];
      },
      async *lines(table, columns) {
        yield* (await source(table))?.lines(table, columns) ?? [];
      },
    };
  },
});

/** Each chat continues: the model sees its images again, and ids grow. Resolves to the number of images. */
async function checkNextTurns(rig: Rig, api: ApiClient, runs: readonly Body[]): Promise<number> {
  let images = 0;
  const newest = runs.map(({ runId }) => String(runId)).toSorted();
  for (const [chatId, [first]] of Map.groupBy(runs, (run) => String(run.chatId))) {
    const messages = await listAll(api, `${PATH}/chats/${chatId}/messages`);
    const urls: string[] = messages.flatMap(({ attachments }) => attachments.map((one: Body) => one.image_url));
    const kept = urls.map((url) => /sha256=([0-9a-f]{64})/.exec(url)?.[1]);
    const { consumerId } = first;
    const ids = { apiIntegrationId: INTEGRATION, consumerId, chatId, usageRequestId: `next in ${chatId}` };
    const reader = await whole(api.complete({ ...ids, message: 'And now?' }));
    const runId = String(reader.headers['x-run-id']);
    const prompt = rig.model.calls.findLast(({ request }) => request.runId === runId)?.request.prompt ?? [];
    const shown: Body[] = prompt.flatMap((item) => (item.kind === 'user' ? (item.attachments ?? []) : []));
    const hashes = shown.map(({ base64 }) => hash('sha256', Buffer.from(base64, 'base64')));
    expectEqual(`images of ${chatId}`, hashes.toSorted(), kept.toSorted());
    expectEqual('ids that grow', runId > (newest.at(-1) ?? ''), true);
    const { run } = await checkStory(rig, { api, runId, seen: reader.frames });
    const { length } = await listAll(api, `${PATH}/chats/${chatId}/messages`);
    expectEqual('next turn', [run.status, length], ['completed', messages.length + 2]);
    images += hashes.length;
  }
  return images;
}

interface Size {
  readonly before: number;
  readonly between: number;
}

async function backUpAndRestore(nodes: number | null, fault: string | null, size: Size) {
  await using rig = await Rig.start({ nodes });
  await using target = await Rig.open({ nodes: nodes === null ? null : 0 });
  const getPlace = (of: Rig) => ({ RUNWIRE_DATA_DIR: of.dataDir, DATABASE_URL: nodes === null ? '' : of.databaseUrl });
  const allowances = { unit: 'runs', limit: 1_000_000, period: 'lifetime' };
  await rig.prepare({ apiIntegrationId: INTEGRATION, agency: 'test', allowances });
  for (const member of MEMBERS) await rig.api().put(`${PATH}/members/${member}`, {});
  const load = new Load(rig);
  await load.hold();
  await load.more(size.before);
  const before = load.completed;
  const files = await FileLoad.start(rig.api());
  const parent = temporaryFolder();
  using _ = { [Symbol.dispose]: () => rmSync(parent, { recursive: true }) };
  const folder = join(parent, 'backup');
  await backup(getPlace(rig), folder, slowly(load, files, size.between, fault));
  const during = load.completed - before;
  await files.stop();
  await load.stop();
  await Promise.all(rig.servers.map((server) => server.kill()));
  await restore(getPlace(target), folder);

  target.integration = INTEGRATION;
  load.answer(target);
  // A run in progress did not crash: it continues even if one crash is one too many.
  const { api } = await target.add({ env: { RUNWIRE_MAX_ATTEMPTS: '1' } });
  const restoredFiles = await files.check(api);
  const isActive = ({ status }: Body) => status === 'admitted' || status === 'running';
  const list = () => listAll(api, `${PATH}/runs`);
  let events = 0;
  const check = async (runs: readonly Body[]) => {
    for (const { runId, usageRequestId } of runs) {
      const { run, charged, stream } = await checkStory(target, { api, runId });
      expectEqual('end of a run', [run.status, run.error, charged], ['completed', null, { unit: 'runs', amount: 1 }]);
      const request = load.sent.get(usageRequestId);
      if (request === undefined) throw new Shortfall(`request of run ${runId}: expected 1, found 0.`);
      await checkReplay(target, api, request, stream);
      events += stream.frames.length;
    }
  };
  const found = await list();
  load.mayEnd.resolve();
  // The runs in progress call models, and no replay may.
  await until('end of all runs', async () => !(await list()).some(isActive), { pauseMs: 100 });
  const runs = await list();
  expectEqual('runs after the restore', runs.length, found.length);
  await check(runs);
  expectEqual('usage records', (await listAll(api, `${PATH}/usage`)).length, runs.length);
  for (const member of MEMBERS) {
    const count = runs.filter(({ consumerId }) => consumerId === member).length;
    await expectAllowance(api, `${PATH}/members/${member}`, count);
  }
  return {
    runs: expectAtLeast('runs of the backup', runs.length, size.before + HELD),
    unfinished: expectAtLeast('runs in progress', found.filter(({ attempt }) => attempt > 1).length, HELD),
    during,
    events,
    images: await checkNextTurns(target, api, runs),
    files: restoredFiles,
  };
}

test('a backup under load is consistent after its restore', async () => {
  const fault = plantedFault();
  if (postgresFolder() === null) throw new Shortfall('PostgreSQL on this machine: expected 1, found 0.');
  const size = scale({ before: 4, between: 1 }, { before: 200, between: 20 });
  const sum = { runs: 0, unfinished: 0, during: 0, events: 0, images: 0, files: 0 };
  for (const nodes of [null, 2]) addTo(sum, await backUpAndRestore(nodes, fault, size));
  count({ stores: 2, ...sum });
});
