import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hookStore, STORES, type StoreName } from '@runwire/test-kit';
import { scale } from '@runwire/test-kit/scale.ts';
import { newIntegrationId } from '../packages/server/src/domain/ids.ts';
import { wordScope } from '../packages/server/src/domain/search/words.ts';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { eventually } from './support/eventually.ts';
import { refused } from './support/refused.ts';
import { ScriptedServer } from './support/scripted-server.ts';

/** More than a page reads. */
const RUNS = 21_000;
/** Turns with so many words that one statement must not compare them all. */
const LONG_TURNS = 12;
/** Bytes that one statement compares, if each word is compared with all of them. */
const COMPARED_BYTES = 8 * 1024 * 1024;
/** How often the loop of the index looks: soon, or never during a test. */
const LOOPS = { 'in the index': 200, 'outside the index': 3_600_000 } as const;

for (const store of STORES) {
  describe(store, () => {
    // The second pass is about the statements, which differ little between the stores.
    const loops = Object.entries(LOOPS).slice(0, store === 'sqlite' ? 2 : scale(1, 2));
    for (const [where, searchMs] of loops) describe(where, () => tests(store, searchMs));
  });
}

function tests(store: StoreName, searchMs: number): void {
  /** For each statement that compares words: the bytes that it compared with each word, by row. */
  const compared: number[][] = [];
  /** For each statement that adds to the index: the length of each turn's words. */
  const added: number[][] = [];
  /** The length of each record that the loop read. */
  const records: number[] = [];
  let beforeDelete = async () => {};
  const wrapStore = hookStore({
    read: async (_, query) => {
      const rows = (await query()) as { matches?: unknown; w0?: unknown; bytes: unknown }[];
      if (rows.some((row) => 'matches' in row || 'w0' in row)) compared.push(rows.map(({ bytes }) => Number(bytes)));
      return rows as never;
    },
    readInside: async (statement, query) => {
      const rows = await query();
      if (statement === 'turn records') records.push(...rows.map((row) => (row as { json: string }).json.length));
      return rows;
    },
    write: async (statement, write, params) => {
      if (statement === 'insert docs')
        added.push(
          Object.values<{ words: string }>(JSON.parse((params as { docs: string }).docs)).map(
            ({ words }) => words.length,
          ),
        );
      if (statement === 'delete messages') await beforeDelete();
      return write();
    },
  });
  const rig = ScriptedServer.shared({ store, wrapStore, limits: { searchMs } });

  const ask = (text: string) => askStore(rig.server.dataDir, text);
  /** Waits until the loop has nothing to do, if it looks. */
  const settle = async () => {
    if (searchMs > 1000) return;
    await eventually('all turns are in the index', async () => {
      const [row] = await ask(`select
        (select count(*) from messages m where m.role = 'user'
          and m.run_id not in (select run_id from search_docs) and m.run_id not in (select run_id from active_runs)) as missing,
        (select count(*) from search_waiting where run_id = '') as waiting`);
      return Number(row?.missing) + Number(row?.waiting) === 0;
    });
  };

  class Place {
    readonly integration: string;
    constructor(integration: string) {
      this.integration = integration;
    }

    get path(): string {
      return `/v2/integrations/${this.integration}`;
    }

    async run(message: string, answer: string, more: object = {}): Promise<string> {
      const body = { apiIntegrationId: this.integration, message, ...more };
      const { reader } = await rig.answer(body, answer);
      return String(reader.headers['x-run-id']);
    }

    /** The found items' ids, by one page or page by page. */
    async find(list: 'runs' | 'chats', q: string, filters = '', limit = 50): Promise<string[]> {
      await settle();
      const found: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const next = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { status, body } = await rig.api.get(
          `${this.path}/${list}?q=${encodeURIComponent(q)}&limit=${limit}${filters}${next}`,
        );
        assert.equal(status, 200, JSON.stringify(body));
        found.push(...body.items.map((item: { runId?: string; chatId: string }) => item.runId ?? item.chatId));
        cursor = body.nextCursor;
      }
      return found;
    }
  }

  const place = async () => new Place(await rig.integration({ agency: 'test' }));

  test('finds runs by the words of messages, answers, tools and errors', async (t) => {
    cites(
      t,
      'contract-26-search',
      'contract-26-search-words',
      'contract-26-search-prefix',
      'contract-26-search-tokens',
      'contract-26-search-refused',
    );
    const here = await place();
    const cafe = await here.run('Where is the CAFÉ of Straße 7?', 'In 東京, at the corner.');
    const refund = await here.run('I want my money back.', 'Your refund of 4711 is on its way.', { chatId: 'c1' });
    const held = await rig.hold({ apiIntegrationId: here.integration, message: 'Use it.' });
    await held.call.toolCall('call_1', 'echo', '{"note":"argument"}');
    await held.call.end();
    await (await rig.controller.nextCall()).fail('model_error', 'The weather spoils everything.');
    await held.reader.whole();
    const tool = held.runId;
    const cases: [q: string, runs: string[]][] = [
      ['cafe', [cafe]],
      ['STRASSE corner', [cafe]],
      ['京', [cafe]],
      ['京 東', [cafe]],
      ['refun', [refund]],
      ['refun money', []],
      ['money refun', [refund]],
      ['i', [tool, refund, cafe]],
      ['"refund" OR (nothing)', []],
      ['ech', [tool]],
      ['argument', []],
      ['use weather', [tool]],
    ];
    for (const [q, runs] of cases) assert.deepEqual(await here.find('runs', q), runs, q);
    assert.deepEqual(await here.find('runs', 'i', '', 1), [tool, refund, cafe]);
    assert.deepEqual(await here.find('runs', 'i', '&status=failed'), [tool]);
    assert.deepEqual(await here.find('runs', 'i', '&status=completed', 1), [refund, cafe]);
    const filters = '&status=completed&chatId=c1&agent=Clerk&from=2020-01-01T00:00:00Z&texts=false';
    assert.deepEqual(await here.find('runs', 'refund', filters), [refund]);
    assert.deepEqual(await here.find('runs', 'refund', '&to=2020-01-01T00:00:00Z'), []);
    assert.deepEqual(await here.find('runs', 'refund', '&consumerId=ann'), []);
    assert.deepEqual(await (await place()).find('runs', 'refund'), []);
    for (const q of ['', '%20', '"*-"', 'x'.repeat(201)])
      await refused(rig.api.get(`${here.path}/runs?q=${q}`), 400, 'invalid_request', /`q`/);
  });

  test('finds an active run by its message', async (t) => {
    cites(t, 'contract-26-search-fresh');
    const here = await place();
    const held = await rig.hold({ apiIntegrationId: here.integration, chatId: 'c1', message: 'A zebra, please.' });
    assert.deepEqual(await here.find('runs', 'zebra'), [held.runId]);
    assert.deepEqual(await here.find('chats', 'zebra', '&status=running'), ['c1']);
    await held.finish('No giraffe.');
    assert.deepEqual(await here.find('runs', 'zebra giraffe'), [held.runId]);
  });

  test('finds the imported turns of a run that was active when the loop looked', async (t) => {
    cites(t, 'contract-26-search');
    const here = await place();
    const history = [
      { role: 'user', content: 'An old ocelot.' },
      { role: 'assistant', content: 'Yes.' },
    ];
    const held = await rig.hold({ apiIntegrationId: here.integration, chatId: 'c1', message: 'A new stoat.', history });
    const isWaiting = async () =>
      (await ask(`select 1 from search_waiting where run_id = '${held.runId}'`)).length === 1;
    // The loop moves on when another run has ended. On PostgreSQL it adds what is 15 s old.
    await here.run('Another stoat.', 'Yes.');
    if (searchMs <= 1000 && store === 'sqlite') await eventually('the loop has passed the run', isWaiting);
    await held.finish('Yes.');
    assert.deepEqual(await here.find('chats', 'stoat ocel'), ['c1']);
  });

  test('finds chats by words in any of their turns, forks and imported turns included', async (t) => {
    cites(t, 'contract-26-search', 'contract-26-search-deleted');
    const here = await place();
    await here.run('The first message names a walrus.', 'One.', { chatId: 'c1' });
    await here.run('The second message names a lemur.', 'Two.', { chatId: 'c1' });
    await here.run('Another walrus.', 'Three.', { chatId: 'c2' });
    const fork = (await rig.api.post(`${here.path}/chats/c1/fork`, { chatId: 'f1' })).body.chatId;
    const history = [
      { role: 'user', content: 'An old okapi' },
      { role: 'assistant', calls: [{ callId: 'call_1', tool: 'lookup_tapir', arguments: {} }] },
      { role: 'assistant', content: 'answered.' },
    ];
    await rig.api.post(`${here.path}/chats`, { chatId: 'i1', history });
    await here.run('A new bison.', 'Yes.', { chatId: 'i2', history });
    assert.deepEqual(await here.find('chats', 'walrus'), [fork, 'c2', 'c1']);
    assert.deepEqual(await here.find('chats', 'walrus', '', 1), [fork, 'c2', 'c1']);
    assert.deepEqual(await here.find('chats', 'lemur walr'), [fork, 'c1']);
    assert.deepEqual(await here.find('chats', 'okapi tap'), ['i2', 'i1']);
    assert.deepEqual(await here.find('chats', 'bison okapi'), ['i2']);
    assert.deepEqual(await here.find('chats', 'the', '&sort=updated'), [fork, 'c1']);
    assert.deepEqual(await here.find('chats', 'lemur', '&updatedAfter=2020-01-01T00:00:00Z&status=idle'), [fork, 'c1']);
    await refused(rig.api.get(`${here.path}/chats?q=!`), 400, 'invalid_request', /`q`/);

    assert.equal((await rig.api.delete(`${here.path}/chats/c1`)).status, 204);
    assert.deepEqual(await here.find('chats', 'lemur'), [fork]);
    assert.deepEqual(await here.find('runs', 'lemur'), []);
    assert.equal((await rig.api.delete(`${here.path}/chats/${fork}`)).status, 204);
    const docs = await ask("select run_id from search_docs where cast(words as text) like '%lemur%'");
    assert.deepEqual([await here.find('chats', 'lemur'), docs], [[], []]);
  });

  test('a page ends after a bounded number of reads, and the next one continues', async (t) => {
    cites(t, 'contract-26-search-pages');
    const here = await place();
    const found = await here.run('The only walrus.', 'Yes.');
    await settle();
    const [row = {}] = await ask(`select * from runs where run_id = '${found}'`);
    const changed: Record<string, string> = { run_id: `run_id || '_' || i`, created_at: 'created_at + i' };
    const columns = Object.keys(row);
    const numbers = `with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < ${RUNS})`;
    await ask(`insert into runs (${columns}) ${numbers} select ${columns.map((name) => changed[name] ?? name)}
      from runs, numbers where run_id = '${found}'`);
    // Both words are common, but only the oldest run has both.
    const scope = wordScope(newIntegrationId(here.integration));
    const word = `case when i % 2 = 0 then '${scope}the' else '${scope}wa' || i end`;
    const words = store === 'postgres' ? `array_to_tsvector(array[${word}])` : `' ' || ${word} || ' '`;
    await ask(`insert into search_docs (run_id, chat_key, words) ${numbers}
      select '${found}_' || i, '${row.chat_key}', ${words} from numbers`);
    const path = `${here.path}/runs?q=the+wa`;
    const first = (await rig.api.get(path)).body;
    assert.deepEqual([first.items, typeof first.nextCursor], [[], 'string']);
    const { items, nextCursor } = (await rig.api.get(`${path}&cursor=${encodeURIComponent(first.nextCursor)}`)).body;
    assert.deepEqual([items.length, items[0]?.runId, nextCursor], [1, found, null]);
  });

  test('a statement compares a bounded number of words', async (t) => {
    cites(t, 'contract-26-search-pages');
    const here = await place();
    const first = await here.run('The first turn.', 'Yes.', { chatId: 'c1' });
    await settle();
    const characters = Array.from({ length: 100 }, (_, i) => String.fromCodePoint(0x4e00 + i));
    // The last one is only in the oldest and in the last turn of the chat.
    const [q, rare] = [characters.slice(0, 99).join(''), characters.join('')];
    const scope = wordScope(newIntegrationId(here.integration));
    // The words first, so that the loop adds none.
    const longTurns = Array.from({ length: LONG_TURNS }, (_, i) => `${first}_${101 + i}`);
    for (const [i, run] of longTurns.entries()) {
      const own = i === 0 || i === LONG_TURNS - 1 ? rare : q;
      const words = [...Array.from({ length: 4000 }, (_, n) => `filler${n}`), ...own].map((word) => scope + word);
      const stored =
        store === 'postgres'
          ? `array_to_tsvector(string_to_array('${words.join(' ')}', ' '))`
          : `' ${words.join(' ')} '`;
      await ask(`insert into search_docs (run_id, chat_key, words)
        select '${run}', chat_key, ${stored} from runs where run_id = '${first}'`);
    }
    const copy = async (table: string, changed: Record<string, string>) => {
      const [row = {}] = await ask(`select * from ${table} where run_id = '${first}'`);
      const columns = Object.keys(row);
      await ask(`with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < ${LONG_TURNS})
        insert into ${table} (${columns}) select ${columns.map((name) => changed[name] ?? name)}
        from ${table}, numbers where run_id = '${first}' ${table === 'messages' ? "and role = 'user'" : ''}`);
    };
    await copy('runs', { run_id: `run_id || '_' || (100 + i)`, created_at: 'created_at + i' });
    await copy('messages', {
      message_id: `message_id || '_' || i`,
      run_id: `run_id || '_' || (100 + i)`,
      position: '2 * i + 1',
    });
    await ask(`update chats set num_messages = ${2 * LONG_TURNS + 2}
      where chat_key = (select chat_key from runs where run_id = '${first}')`);
    const [row] = await ask(`select max(${store === 'postgres' ? 'pg_column_size' : 'octet_length'}(words)) as bytes
      from search_docs where run_id like '${first}%'`);
    const longest = Number(row?.bytes);
    const cases: [list: 'runs' | 'chats', q: string, found: string[]][] = [
      ['runs', q, longTurns.toReversed()],
      ['runs', rare, [`${first}_${100 + LONG_TURNS}`, `${first}_101`]],
      ['chats', rare, ['c1']],
    ];
    for (const [list, sought, found] of cases) {
      compared.length = 0;
      assert.deepEqual(await here.find(list, sought), found);
      assert.ok(compared.length > 1, `${compared.length} statements`);
      const sums = compared.map((rows) => rows.reduce((sum, bytes) => sum + bytes, 0));
      // The row that crosses the bound is the last one.
      const most = COMPARED_BYTES / sought.length + longest;
      assert.ok(Math.max(...sums) <= most, `${sums} for ${most}`);
      if (list === 'chats') assert.ok(sums.reduce((sum, bytes) => sum + bytes, 0) > (LONG_TURNS - 1) * longest * 0.9);
    }
  });

  if (searchMs > 1000) return;

  test('a statement adds one long turn, and reads no outputs of imported calls', async () => {
    const here = await place();
    const long = Array.from({ length: 3000 }, (_, i) => `w${i}`).join(' ');
    const turn = (content: string) => [
      { role: 'user', content },
      { role: 'assistant', calls: [{ callId: 'call_1', tool: 'lookup', arguments: {} }] },
      { role: 'tool', callId: 'call_1', output: 'x'.repeat(50_000) },
      { role: 'assistant', content: 'Yes.' },
    ];
    const history = [long, 'short', long, 'short', 'short', long].flatMap(turn);
    added.length = 0;
    records.length = 0;
    assert.equal((await rig.api.post(`${here.path}/chats`, { chatId: 'c1', history })).status, 201);
    await settle();
    const longOnes = added.map((lengths) => lengths.filter((length) => length > 1000).length);
    assert.deepEqual(longOnes, [1, 1, 1], JSON.stringify(added));
    assert.equal(added.flat().length, 6);
    assert.deepEqual(records, [], 'no record is read for the name of a tool');
    assert.deepEqual(await here.find('chats', 'w2999 lookup'), ['c1']);
  });

  if (store === 'postgres') return;

  test('words of a chat and its fork leave the index before both are deleted', async () => {
    const here = await place();
    const history = Array.from({ length: 8 }, (_, turn) => [
      { role: 'user', content: Array.from({ length: 200 }, (_, i) => `w${turn}x${i}`).join(' ') },
      { role: 'assistant', content: 'Yes.' },
    ]).flat();
    assert.equal((await rig.api.post(`${here.path}/chats`, { chatId: 'c1', history })).status, 201);
    assert.equal((await rig.api.post(`${here.path}/chats/c1/fork`, { chatId: 'f1' })).status, 201);
    // Requests to compatible APIs make such forks.
    await ask("update chats set transient = 1 where chat_id = 'f1'");
    await settle();
    const scope = wordScope(newIntegrationId(here.integration));
    const bytes = async () => {
      const [row] = await ask(`select sum(octet_length(words)) as n from search_docs where words like ' ${scope}%'`);
      return Number(row?.n);
    };
    assert.ok((await bytes()) > 16_000);
    const left: number[] = [];
    beforeDelete = async () => void left.push(await bytes());
    assert.equal((await rig.api.delete(`${here.path}/chats/c1`)).status, 204);
    beforeDelete = async () => {};
    assert.equal(left.length, 2, 'the chat and its fork');
    assert.ok(Math.max(...left) <= 6000, `${left}`);
    assert.equal(await bytes(), 0);
  });
}
