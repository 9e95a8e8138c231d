import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { postgresFolder, Rig, type ServerProcess, SHORT_LEASE } from '@runwire/test-kit';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { expectAtMost, expectEqual, Shortfall, until } from '@runwire/test-kit/shortfall.ts';
import { fillHistory, type HistorySizes, MILLION } from '../bench/history.ts';
import { median } from '../bench/phases.ts';
import { askStore } from './support/ask-store.ts';

/*
 * A million runs of an earlier version are added to the index by the loop. Then lists are searched with and without filters: each
 * search finds what a scan over all texts finds, and its first page is fast. Runs that the loop has not added yet are found. Of an
 * erased person no word is found, neither in answers nor in the files of the database.
 */

const PAST = 'past';
const PATH = `/v2/integrations/${PAST}`;
const FRESH = 'fresh';
const SHORT: HistorySizes = { runs: 8_000, chats: 2_000, members: 800, days: 90 };
const MAX_FIRST_PAGE_MS = 300;
/** The loop adds a run within 2 s. Three times as long, because other work can delay it here. */
const MAX_INDEXED_MS = 6000;
const BUILD_MS = 3_600_000;
const REPEATS = 5;
const SCANNED_ROWS = 20_000;
/** More ids than the compared pages have. */
const MAX_IDS = 1000;
const PIECE_BYTES = 16_777_216;
/** Pages that are compared, of lists with more. */
const MAX_PAGES = 4;
const LIMITS = { ...SHORT_LEASE, eraseRewriteMs: 0 };
/** The loop adds everything without pauses, or nothing. */
const BUSY = { ...LIMITS, searchMs: 1 };
const IDLE = { ...LIMITS, searchMs: 3_600_000 };

interface Query {
  readonly q: string;
  /** Parameters of the request. */
  readonly filters?: string;
  /** The same for a row. */
  readonly where?: (row: ScannedRow) => boolean;
}

interface ScannedRow {
  readonly run_id: string;
  readonly chat_id: string;
  readonly status: string;
  readonly consumer_id: string;
  readonly agent: string;
  readonly message: string;
  readonly answer: string;
}

/** The newest ids that a scan has found, and their number. */
interface ScanResult {
  readonly ids: string[];
  count: number;
}

/** The texts are those of `fillHistory`: each run has its number. */
const runQueries = (runs: number): readonly Query[] => [
  { q: `${runs - 77}` },
  { q: 'number' },
  { q: 'TOMORROW Ask' },
  { q: `monday ${Math.floor(runs / 90)}` },
  { q: `what ${runs - 5}` },
  { q: 'zebra' },
  { q: 'number', filters: '&status=failed', where: ({ status }) => status === 'failed' },
  { q: 'noon', filters: '&consumerId=member-1', where: (row) => row.consumer_id === 'member-1' },
  {
    q: `${Math.floor(runs / 2)}`,
    filters: '&status=completed&texts=false',
    where: ({ status }) => status === 'completed',
  },
  { q: 'monday', filters: '&agent=Billing', where: ({ agent }) => agent === 'Billing' },
];
/** Words of two turns of one chat. */
const chatQueries = (runs: number): readonly Query[] => [
  { q: `${runs - 77}` },
  { q: `${runs - 4} ${runs - 3}` },
  { q: 'noon' },
  { q: `monday ${Math.floor(runs / 90)}` },
  { q: `${runs - 4} zebra` },
];

class Stage {
  readonly rig: Rig;
  readonly sizes: HistorySizes;
  readonly times: number[] = [];
  readonly sums = { runs: 0, searches: 0, found: 0, erased: 0, indexedMs: 0 };

  constructor(rig: Rig, sizes: HistorySizes) {
    this.rig = rig;
    this.sizes = sizes;
    rig.model.onCall = (call) => void call.text('Understood.').then(() => call.end());
  }

  ask(text: string): Promise<Record<string, unknown>[]> {
    return this.rig.isEmbedded ? askStore(this.rig.dataDir, text) : this.rig.query(text);
  }

  async start(limits: object): Promise<ServerProcess> {
    return this.rig.add({ limits });
  }

  async stop(server: ServerProcess): Promise<void> {
    await server.kill('SIGTERM');
    this.rig.servers.splice(this.rig.servers.indexOf(server), 1);
  }

  async fill(): Promise<void> {
    const { dataDir } = this.rig;
    const database = this.rig.isEmbedded
      ? ({ kind: 'sqlite', path: join(dataDir, 'runwire.db') } as const)
      : ({ kind: 'postgres', url: this.rig.databaseUrl } as const);
    await fillHistory(database, { integrationId: PAST, ...this.sizes, endMs: Date.now(), counted: true });
  }

  /** Waits until the loop has visited all chats. */
  async build(): Promise<void> {
    const isBuilt = async () => (await this.ask('select rest from search_state'))[0]?.rest === null;
    await until('end of the walk', isBuilt, { limitMs: BUILD_MS, pauseMs: 500 });
    const [row] = await this.ask('select count(*) as n from search_docs');
    // And the run of the other integration.
    expectEqual('turns in the index', Number(row?.n), this.sizes.runs + 1);
  }

  async page(server: ServerProcess, path: string) {
    const beganAt = performance.now();
    const { status, body } = await server.api.get(path);
    const ms = performance.now() - beganAt;
    expectEqual(`status of ${path}`, status, 200);
    const ids = body.items.map((item: { runId?: string; chatId: string }) => item.runId ?? item.chatId) as string[];
    return { ids, next: body.nextCursor as string | null, ms };
  }

  /** The found ids of some pages. `isWhole` is true after the last page. */
  async search(server: ServerProcess, list: 'runs' | 'chats', { q, filters = '' }: Query) {
    const path = `${PATH}/${list}?q=${encodeURIComponent(q)}&limit=100${filters}`;
    const found: string[] = [];
    let cursor: string | null = '';
    for (let pages = 0; cursor !== null && (pages < MAX_PAGES || found.length === 0); pages += 1) {
      const { ids, next, ms } = await this.page(server, cursor === '' ? path : `${path}&cursor=${cursor}`);
      if (pages === 0) this.times.push(ms);
      found.push(...ids);
      cursor = next === null ? null : encodeURIComponent(next);
    }
    this.sums.searches += 1;
    this.sums.found += found.length;
    return { found, isWhole: cursor === null };
  }

  /** Compares a search with what a scan has found. */
  async compare(server: ServerProcess, list: 'runs' | 'chats', query: Query, scanned: ScanResult): Promise<void> {
    const { q, filters = '' } = query;
    const { found, isWhole } = await this.search(server, list, query);
    expectEqual(`${list} with "${q}"${filters}`, found, scanned.ids.slice(0, found.length));
    if (isWhole) expectEqual(`number of ${list} with "${q}"${filters}`, found.length, scanned.count);
    for (let i = 1; i < REPEATS; i += 1) {
      const path = `${PATH}/${list}?q=${encodeURIComponent(q)}&limit=50${filters}`;
      this.times.push((await this.page(server, path)).ms);
    }
  }

  /** Reads all texts once, newest first, and finds what each query must find. */
  async scan(runQueries: readonly Query[], chatQueries: readonly Query[], condition = 'true') {
    const found = new Map<Query, ScanResult>(
      [...runQueries, ...chatQueries].map((query) => [query, { ids: [], count: 0 }]),
    );
    let chat: { id: string; words: Set<string> } = { id: '', words: new Set() };
    const endChat = () => {
      for (const query of chatQueries) if (hasWords(chat.words, query.q)) add(found.get(query), chat.id);
    };
    for (let before = 'run_~'; ; ) {
      const rows = (await this.ask(`select r.run_id, c.chat_id, r.status, r.consumer_id, r.agent,
          m.content_json as message, a.content_json as answer
        from runs r join chats c on c.chat_key = r.chat_key
        join messages m on m.chat_key = r.chat_key and m.run_id = r.run_id and m.role = 'user'
        join messages a on a.chat_key = r.chat_key and a.run_id = r.run_id and a.role = 'assistant'
        where r.run_id < '${before}' and r.integration_id || '' = '${PAST}' and ${condition}
        order by r.run_id desc limit ${SCANNED_ROWS}`)) as unknown as ScannedRow[];
      for (const row of rows) {
        const words = new Set(`${row.message} ${row.answer}`.toLowerCase().match(/[a-z0-9]+/g));
        for (const query of runQueries)
          if ((query.where?.(row) ?? true) && hasWords(words, query.q)) add(found.get(query), row.run_id);
        if (row.chat_id !== chat.id) {
          endChat();
          chat = { id: row.chat_id, words: new Set() };
        }
        for (const word of words) chat.words.add(word);
      }
      before = rows.at(-1)?.run_id ?? '';
      if (rows.length < SCANNED_ROWS) break;
      await nextTurn();
    }
    endChat();
    return (query: Query): ScanResult => found.get(query) ?? { ids: [], count: 0 };
  }

  async run(server: ServerProcess, message: string, more: object): Promise<string> {
    const reader = await server.api.complete({ apiIntegrationId: PAST, message, ...more });
    await reader.over;
    expectEqual('status of a run', reader.status, 200);
    return String(reader.headers['x-run-id']);
  }

  /** Runs that the loop has not added are found. */
  async findUnindexed(server: ServerProcess): Promise<void> {
    const runId = await this.run(server, 'A brand-new quokka.', { apiIntegrationId: FRESH, chatId: 'c1' });
    const expected = { runs: [runId], chats: ['c1'] };
    for (const list of ['runs', 'chats'] as const) {
      const { ids } = await this.page(server, `/v2/integrations/${FRESH}/${list}?q=quokk`);
      expectEqual(`${list} found outside the index`, ids, expected[list]);
    }
  }

  /** The words of an erased person are in no answer and in no file. */
  async erase(): Promise<void> {
    const server = await this.start(LIMITS);
    const member = `${PATH}/members/planted-person`;
    expectEqual('status of the member', (await server.api.put(member, {})).status, 201);
    const q = { q: 'plantedwombat' };
    const runId = await this.run(server, 'I am plantedwombat.', { consumerId: 'planted-person' });
    const inIndex = async () => {
      const rows = await this.ask(`select run_id from search_docs where cast(words as text) like '%plantedwombat%'`);
      return rows.length;
    };
    const endedAt = performance.now();
    await until('the run is in the index', async () => (await inIndex()) === 1, { limitMs: 60_000, pauseMs: 20 });
    this.sums.indexedMs = Math.round(performance.now() - endedAt);
    expectAtMost('ms until a run is in the index', this.sums.indexedMs, MAX_INDEXED_MS);
    expectEqual('runs before the erasure', (await this.search(server, 'runs', q)).found, [runId]);
    expectEqual('status of the erasure', (await server.api.delete(`${member}?erase=true`)).status, 202);
    const isErased = async () => (await server.api.get(`${member}/erasure`)).body.status === 'erased';
    await until('end of the erasure', isErased, { limitMs: 600_000, pauseMs: 200 });
    for (const list of ['runs', 'chats'] as const) {
      expectEqual(`${list} of an erased person`, (await this.search(server, list, q)).found, []);
    }
    expectEqual('words of an erased person in the index', await inIndex(), 0);
    if (this.rig.isEmbedded) expectEqual('files with words of an erased person', this.filesWith('lantedwombat'), []);
    this.sums.erased += 1;
    await this.stop(server);
  }

  filesWith(text: string): string[] {
    return readdirSync(this.rig.dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => hasBytes(path, text));
  }
}

/** Reads the file in pieces, because a database can be larger than a buffer. */
function hasBytes(path: string, text: string): boolean {
  const file = openSync(path, 'r');
  try {
    const piece = Buffer.alloc(PIECE_BYTES);
    for (let position = 0; ; position += PIECE_BYTES - text.length) {
      const bytes = readSync(file, piece, 0, PIECE_BYTES, position);
      if (piece.subarray(0, bytes).includes(text)) return true;
      if (bytes < PIECE_BYTES) return false;
    }
  } finally {
    closeSync(file);
  }
}

function hasWords(words: ReadonlySet<string>, q: string): boolean {
  const sought = q.toLowerCase().split(' ');
  const last = sought.pop() ?? '';
  return sought.every((word) => words.has(word)) && words.values().some((word) => word.startsWith(last));
}

function add(scanned: ScanResult | undefined, id: string): void {
  if (scanned === undefined) return;
  scanned.count += 1;
  if (scanned.ids.length < MAX_IDS) scanned.ids.push(id);
}

async function proveOn(nodes: number | null, sizes: HistorySizes) {
  await using rig = await Rig.open({ nodes });
  const stage = new Stage(rig, sizes);
  const first = await stage.start(IDLE);
  for (const apiIntegrationId of [FRESH, PAST]) await rig.prepare({ apiIntegrationId, agency: 'test' });
  await stage.findUnindexed(first);
  await stage.stop(first);
  // The installation then looks like one of an earlier version.
  await stage.ask('delete from search_state');
  await stage.fill();
  const runs = runQueries(sizes.runs);
  const chats = chatQueries(sizes.runs);
  const scanned = await stage.scan(runs, chats);
  const ofMember = { q: 'noon', filters: '&consumerId=member-2' };
  const scannedOfMember = await stage.scan([ofMember], [], `r.consumer_id = 'member-2'`);
  // Loops of several nodes do no work twice.
  const builder = await stage.start(BUSY);
  const others = nodes === null ? [] : [await stage.start(BUSY)];
  // During the walk too, nothing is missing.
  await stage.compare(builder, 'runs', ofMember, scannedOfMember(ofMember));
  await stage.build();
  for (const one of [builder, ...others]) await stage.stop(one);
  stage.times.length = 0;
  const server = await stage.start(LIMITS);
  for (const query of runs) await stage.compare(server, 'runs', query, scanned(query));
  for (const query of chats) await stage.compare(server, 'chats', query, scanned(query));
  await stage.stop(server);
  const medianMs = Math.round(median(stage.times));
  const slowestMs = Math.round(Math.max(...stage.times));
  await stage.erase();
  return { ...stage.sums, runs: sizes.runs, medianMs, slowestMs };
}

test('a search finds what a scan finds, and nothing of an erased person', async () => {
  if (postgresFolder() === null) throw new Shortfall('PostgreSQL on this machine: expected 1, found 0.');
  const sizes = scale(SHORT, MILLION);
  for (const nodes of [null, 0]) {
    const { medianMs, slowestMs, ...sums } = await proveOn(nodes, sizes);
    const store = nodes === null ? 'sqlite' : 'postgres';
    count({ ...sums, [`${store}MedianMs`]: medianMs, [`${store}SlowestMs`]: slowestMs });
    expectAtMost(`${store}: median of first pages in ms`, medianMs, MAX_FIRST_PAGE_MS);
  }
});
