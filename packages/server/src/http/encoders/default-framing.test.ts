import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { lastFrameId, type MessageItem, type RunEvent } from '../../domain/run/events.ts';
import { DefaultFraming } from './default-framing.ts';
import type { PageBytes } from './page-bytes.ts';
import { TextOnly } from './text-only.ts';

const PAGE_CHARS = 1000;

const item: MessageItem = {
  kind: 'message',
  id: 'msg_1',
  agent: 'Concierge',
  callerAgent: null,
  outputIndex: 0,
  text: 'x'.repeat(20 * PAGE_CHARS),
  complete: true,
  timestamp: 1,
};

const EVENTS: readonly RunEvent[] = [
  { type: 'item_added', item, id: 1 },
  { type: 'delta', item, text: 'short', id: 3 },
  { type: 'delta', item, text: item.text, id: 4 },
  { type: 'delta', item, text: 'short', id: 5 },
  { type: 'item_done', item, id: 6 },
  { type: 'run_item', name: 'message_output_created', item, id: 9 },
  { type: 'end', id: 10 },
];

const readText = (data: string | PageBytes) => (typeof data === 'string' ? data : data.copy().toString());
const getIds = (data: string) => [...data.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

/** Reads all pages after `cursor`, as a reader gets them. */
function pages(cursor: number, framing = new DefaultFraming()) {
  const found: { readonly ids: number[]; readonly data: string }[] = [];
  let from = EVENTS.findIndex((event) => lastFrameId(event) > cursor);
  let after = cursor;
  while (from < EVENTS.length) {
    const { data, next, cursor: last, breaksOff } = framing.page(EVENTS, from, after, PAGE_CHARS);
    assert.equal(breaksOff, false);
    found.push({ ids: getIds(readText(data)), data: readText(data) });
    assert.equal(found.at(-1)?.ids.at(-1), last, 'its cursor is the id of its last frame');
    [from, after] = [next, last];
  }
  return found;
}

test('a page has several small frames or one large frame', () => {
  assert.deepEqual(
    pages(0).map(({ ids }) => ids),
    [[1, 2, 3], [4], [5], [6], [7], [8], [9], [10]],
  );
});

test('sends each frame after any cursor once, with the same bytes', () => {
  const frameTexts = (found: ReturnType<typeof pages>) =>
    found
      .map(({ data }) => data)
      .join('')
      .split(/(?<=\n\n)/);
  const all = frameTexts(pages(0));
  assert.equal(all.length, 10);
  for (let cursor = 0; cursor < 10; cursor += 1) assert.deepEqual(frameTexts(pages(cursor)), all.slice(cursor));
});

test('keeps no large page after a turn and nothing after the end of a run', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const framing = new DefaultFraming();
  const large = (): WeakRef<object>[] => {
    const { data } = framing.page(EVENTS, 2, 3, PAGE_CHARS);
    return [new WeakRef((data as PageBytes).chunk(false).buffer)];
  };
  const ended = (): WeakRef<object>[] => {
    const events: RunEvent[] = [{ type: 'end', id: 10 }];
    return [new WeakRef(events), new WeakRef(framing.page(events, 0, 9, PAGE_CHARS))];
  };
  for (const remembered of [large, ended]) {
    const refs = remembered();
    for (let turn = 0; turn < 100 && refs.some((ref) => ref.deref() !== undefined); turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    assert.deepEqual(
      refs.map((ref) => ref.deref()),
      refs.map(() => undefined),
    );
  }
});

test('readers at the same cursor share one copy of a page', () => {
  const framing = new DefaultFraming();
  for (const cursor of [4, 6]) {
    const from = EVENTS.findIndex((event) => lastFrameId(event) > cursor);
    const chunk = () => (framing.page(EVENTS, from, cursor, PAGE_CHARS).data as PageBytes).chunk(false);
    const [first, ...others] = [chunk(), chunk(), chunk()];
    for (const other of others) {
      assert.equal(other.buffer, first.buffer);
      assert.deepEqual([other.byteOffset, other.length], [first.byteOffset, first.length]);
    }
  }
});

test('progress and a failed MCP server are run items in the default framing and nothing in Text Only Mode', () => {
  const event = {
    type: 'tool_progress',
    agent: 'Guide',
    callerAgent: 'Lead',
    loop: 'call_1',
    callId: 'call_2',
  } as const;
  const { callId: _, ...speaker } = event;
  const about = { agency: 'a', server: 's', error: 'Gone.' };
  const failed: readonly RunEvent[] = [{ ...speaker, type: 'mcp_server_failed', ...about, id: 3 }];
  const shown = JSON.parse(
    readText(new DefaultFraming().page(failed, 0, 2, PAGE_CHARS).data).slice('id: 3\ndata: '.length),
  );
  assert.deepEqual(shown.data, {
    type: 'run_item_stream_event',
    agent: 'Guide',
    callerAgent: 'Lead',
    parent_run_id: 'call_1',
    name: 'mcp_server_failed',
    item: { type: 'mcp_server_item', raw_item: { type: 'mcp_server_failed', ...about } },
  });
  assert.equal(new TextOnly().page(failed, 0, 2, PAGE_CHARS).data, '');
  const events: readonly RunEvent[] = [{ ...event, text: 'half\n"done"', id: 7 }];
  const origin = '"agent":"Guide","callerAgent":"Lead","parent_run_id":"call_1"';
  const raw = '{"type":"tool_progress","call_id":"call_2","text":"half\\n\\"done\\""}';
  const item = `{"type":"tool_progress_item","raw_item":${raw}}`;
  const data = `{"data":{"type":"run_item_stream_event",${origin},"name":"tool_progress","item":${item}}}`;
  assert.equal(readText(new DefaultFraming().page(events, 0, 6, PAGE_CHARS).data), `id: 7\ndata: ${data}\n\n`);
  const plain = new TextOnly().page(events, 0, 6, PAGE_CHARS);
  assert.deepEqual([plain.data, plain.next, plain.cursor, plain.breaksOff], ['', 1, 7, false]);
});
