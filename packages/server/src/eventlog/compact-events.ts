import type { RunEvent } from '../domain/events.ts';

type Delta = Extract<RunEvent, { type: 'delta' }>;

/** What a finished item says again in its run item and in `messages`, and what surrounds a response. */
const LEFT_OUT: ReadonlySet<RunEvent['type']> = new Set([
  'response_created',
  'item_added',
  'item_done',
  'response_done',
]);

/**
 * What stays of an ended run: "`meta`, every `resumed`, one delta per content part, run items, the error frame,
 * `messages`, `end`, each under the id of the last event it stands for". A delta stands for the deltas of its part.
 * Every event that stays is one frame, and its id is one that readers of the whole run saw on a frame of its kind.
 */
export function compactEvents(events: readonly RunEvent[]): RunEvent[] {
  const kept: RunEvent[] = [];
  const parts = new Map<string, { readonly texts: string[]; last: Delta }>();
  for (const event of withoutVoid(events)) {
    if (event.type === 'delta') {
      // By the item's id: each chunk brings objects of its own.
      const part = parts.get(event.item.id);
      if (part === undefined) parts.set(event.item.id, { texts: [event.text], last: event });
      else {
        part.texts.push(event.text);
        part.last = event;
      }
    } else if (!LEFT_OUT.has(event.type)) kept.push(event);
  }
  for (const { texts, last } of parts.values()) kept.push({ ...last, text: texts.join('') });
  return kept.sort((one, other) => one.id - other.id);
}

/** "void events are never sent again": nothing between a `resumed` and what it says was the last to count. */
function withoutVoid(events: readonly RunEvent[]): readonly RunEvent[] {
  let counted = events;
  for (const event of events) {
    if (event.type !== 'resumed') continue;
    counted = counted.filter((other) => other.id <= event.discardAfter || other.id >= event.id);
  }
  return counted;
}
