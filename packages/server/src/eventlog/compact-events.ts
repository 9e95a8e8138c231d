import type { RunEvent } from '../domain/run/events.ts';

type Delta = Extract<RunEvent, { type: 'delta' }>;

/** Events whose content is repeated in run items and in `messages`, and the frames around a response. */
const LEFT_OUT: ReadonlySet<RunEvent['type']> = new Set([
  'response_created',
  'item_added',
  'item_done',
  'response_done',
]);

/**
 * The events that remain of an ended run: `meta`, every `resumed`, one delta per content part, run items, the error frame,
 * `messages` and `end`. Each has the id of the last event that it replaces; a delta replaces its part's deltas, and
 * the last progress of a tool call replaces those before it. Every remaining event is one frame, and readers of the
 * uncompacted run saw its id on a frame of the same kind.
 */
export function compactEvents(events: readonly RunEvent[]): RunEvent[] {
  const kept: RunEvent[] = [];
  const parts = new Map<string, { readonly texts: string[]; last: Delta }>();
  const progress = new Map<string, RunEvent>();
  for (const event of withoutVoid(events)) {
    if (event.type === 'delta') {
      // By the item's id, because each chunk is decoded into new objects.
      const part = parts.get(event.item.id);
      if (part === undefined) parts.set(event.item.id, { texts: [event.text], last: event });
      else {
        part.texts.push(event.text);
        part.last = event;
      }
    } else if (event.type === 'tool_progress') progress.set(event.callId, event);
    else if (!LEFT_OUT.has(event.type)) kept.push(event);
  }
  kept.push(...progress.values());
  for (const { texts, last } of parts.values()) kept.push({ ...last, text: texts.join('') });
  return kept.sort((one, other) => one.id - other.id);
}

/** Removes the events that a `resumed` discards, and those of items that it makes void. They are never sent again. */
function withoutVoid(events: readonly RunEvent[]): readonly RunEvent[] {
  let counted = events;
  for (const event of events) {
    if (event.type !== 'resumed') continue;
    const voided = new Set(event.voidItems);
    const isVoid = (other: RunEvent) => 'item' in other && 'id' in other.item && voided.has(other.item.id);
    counted = counted.filter((other) => (other.id <= event.discardAfter && !isVoid(other)) || other.id >= event.id);
  }
  return counted;
}
