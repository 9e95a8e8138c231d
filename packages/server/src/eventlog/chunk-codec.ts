import type { OutputItem, RunEvent, RunEventBody, ShownRunItem } from '../domain/run/events.ts';
import { eventWidth } from '../domain/run/events.ts';

/*
 * A chunk is JSON text: `{"v":1,"i":[items],"e":[events]}`. Events refer to items by their index in `i`, an item carries
 * its text there at most once, and adjacent deltas of one item are one array: `[index,"Hel","lo"]`. Ids are not stored;
 * they follow from the chunk's first id and the widths. A delta costs its text and three bytes; a frame of the default
 * framing has 250. A compacted chunk, `"v":2`, has gaps: `n` holds its events' ids.
 */

const FORMAT = 1;
const COMPACTED = 2;

type StoredEvent = readonly [number, ...string[]] | { readonly t: string; readonly [field: string]: unknown };

interface StoredChunk {
  readonly v: number;
  readonly i: readonly ShownRunItem[];
  readonly e: readonly StoredEvent[];
  readonly n?: readonly number[];
}

/** In a longer table, items are found by a map. Most chunks have two items. */
const MAX_SEARCHED = 16;

class ItemTable {
  readonly rows: ShownRunItem[] = [];
  readonly #withText: boolean[] = [];
  #indexes: Map<ShownRunItem, number> | null = null;

  indexOf(item: ShownRunItem, needsText: boolean): number {
    let index = this.#indexes === null ? this.rows.indexOf(item) : (this.#indexes.get(item) ?? -1);
    if (index === -1) index = this.#add(item);
    if (needsText) this.#withText[index] = true;
    return index;
  }

  #add(item: ShownRunItem): number {
    const index = this.rows.push(item) - 1;
    this.#withText.push(false);
    if (this.#indexes !== null) this.#indexes.set(item, index);
    else if (index === MAX_SEARCHED) this.#indexes = new Map(this.rows.map((one, at) => [one, at]));
    return index;
  }

  /** A text that no event of this chunk needs is left out: the deltas contain it. */
  stored(): ShownRunItem[] {
    return this.rows.map((item, index) => (this.#withText[index] === true ? item : { ...item, text: '' }));
  }
}

export function encodeChunk(events: readonly RunEvent[]): string {
  return JSON.stringify({ v: FORMAT, ...storedParts(events) } satisfies StoredChunk);
}

/** Always contains the ids, even without a gap: a reader must see that the chunk was compacted. */
export function encodeCompactedChunk(events: readonly RunEvent[]): string {
  const ids = events.map(({ id }) => id);
  return JSON.stringify({ v: COMPACTED, ...storedParts(events), n: ids } satisfies StoredChunk);
}

function storedParts(events: readonly RunEvent[]): Pick<StoredChunk, 'i' | 'e'> {
  const items = new ItemTable();
  const stored: StoredEvent[] = [];
  let openDelta: [number, ...string[]] | null = null;
  let openItem: OutputItem | null = null;
  for (const event of events) {
    if (event.type === 'delta') {
      if (openDelta !== null && openItem === event.item) {
        openDelta.push(event.text);
        continue;
      }
      openItem = event.item;
      openDelta = [items.indexOf(event.item, false), event.text];
      stored.push(openDelta);
      continue;
    }
    openDelta = null;
    openItem = null;
    stored.push(storedEvent(event, items));
  }
  return { i: items.stored(), e: stored };
}

function storedEvent(event: Exclude<RunEvent, { type: 'delta' }>, items: ItemTable): StoredEvent {
  switch (event.type) {
    case 'item_added':
      return { t: event.type, i: items.indexOf(event.item, false) };
    case 'item_done':
      return { t: event.type, i: items.indexOf(event.item, true) };
    case 'response_done':
      return {
        t: event.type,
        response: event.response,
        output: event.output.map((item) => items.indexOf(item, true)),
        usage: event.usage,
      };
    case 'run_item': {
      const stored = { t: event.type, name: event.name, i: items.indexOf(event.item, true) };
      return event.mayAsk === true ? { ...stored, mayAsk: true } : stored;
    }
    case 'messages': {
      const { id: _, type, items: all, ...rest } = event;
      return { t: type, items: all.map((item) => items.indexOf(item, true)), ...rest };
    }
    default: {
      const { id: _, type, ...rest } = event;
      return { t: type, ...rest };
    }
  }
}

export interface DecodedChunk {
  readonly events: readonly RunEvent[];
  readonly compacted: boolean;
}

/** A later version stored the chunk. Its nodes can read it. */
export class UnknownFormat extends Error {
  override readonly name = 'UnknownFormat';
}

export function decodeChunk(firstId: number, data: string): DecodedChunk {
  const chunk = JSON.parse(data) as StoredChunk;
  if (chunk.v !== FORMAT && chunk.v !== COMPACTED)
    throw new UnknownFormat(`The event chunk has the unknown format ${chunk.v}.`);
  const events: RunEvent[] = [];
  let next = firstId;
  const push = (body: RunEventBody) => {
    const id = chunk.n?.[events.length] ?? next;
    events.push({ ...body, id });
    next = id + eventWidth(body);
  };
  const item = (index: unknown): ShownRunItem => {
    const found = chunk.i[index as number];
    if (found === undefined)
      throw new Error(`The event chunk refers to the item ${String(index)}, which it does not contain.`);
    return found;
  };
  for (const entry of chunk.e) {
    if (Array.isArray(entry)) {
      const [index, ...texts] = entry as [number, ...string[]];
      const target = item(index) as OutputItem;
      for (const text of texts) {
        const id = chunk.n?.[events.length] ?? next;
        events.push({ type: 'delta', item: target, text, id });
        next = id + 1;
      }
      continue;
    }
    const { t, ...fields } = entry as Extract<StoredEvent, { t: string }>;
    if ('i' in fields) {
      const { i, ...rest } = fields;
      push({ type: t, item: item(i), ...rest } as unknown as RunEventBody);
    } else if (t === 'response_done') {
      push({ type: t, ...fields, output: (fields.output as unknown[]).map(item) } as unknown as RunEventBody);
    } else if (t === 'messages') {
      push({ type: t, ...fields, items: (fields.items as unknown[]).map(item) } as unknown as RunEventBody);
    } else {
      push({ type: t, ...fields } as unknown as RunEventBody);
    }
  }
  return { events, compacted: chunk.v === COMPACTED };
}
