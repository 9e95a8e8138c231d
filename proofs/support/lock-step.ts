import { setTimeout as sleep } from 'node:timers/promises';
import { type ProviderCall, providerEvents, type StreamReader, sseText } from '@runwire/test-kit';
import type { AttachmentStage } from './attachment-stage.ts';
import { Shortfall, within } from './proof.ts';

const WAIT_MS = 60_000;
const MOST = 20_000;
/** Between two tokens, as a fast model has it. */
const PACE_MS = 5;

/** The events of an answer of this many tokens. */
function tokens(stage: AttachmentStage, count: number) {
  const deltas = Array.from({ length: count }, (_, number) => `<${number}>`);
  const events = providerEvents(stage.protocol, { said: [{ kind: 'text', deltas }], usage: null });
  const first = events.findIndex((event) => JSON.stringify(event).includes('<0>'));
  return { before: events.slice(0, first), each: events.slice(first, first + count) };
}

/**
 * An answer, token by token: the provider sends the next one when the reader has the last. Counts those that passed between
 * the two moments, and leaves the call open.
 */
export async function lockStep(
  stage: AttachmentStage,
  between: { readonly begins: Promise<unknown>; readonly ends: Promise<unknown> },
  { call, reader }: { readonly call: ProviderCall; readonly reader: StreamReader },
): Promise<number> {
  const { before, each } = tokens(stage, MOST);
  let began = false;
  let ended = false;
  void between.begins.then(() => {
    began = true;
  });
  void between.ends.then(() => {
    ended = true;
  });
  await call.bytes(sseText(before));
  let counted = 0;
  let from = 0;
  for (const [number, event] of each.entries()) {
    const mark = `"<${number}>"`;
    const wasUnderWay = began && !ended;
    await call.bytes(sseText([event]));
    const arrival = reader.until(({ text }) => text.includes(mark, from));
    await within(`token ${number} beside the conversion`, WAIT_MS, arrival);
    from = reader.text.indexOf(mark, from);
    if (ended) return counted;
    if (wasUnderWay) counted += 1;
    await sleep(PACE_MS);
  }
  throw new Shortfall(`tokens beside the conversion: expected its end before ${MOST}, found none.`);
}
