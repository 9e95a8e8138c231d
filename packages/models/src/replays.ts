import { createHash } from 'node:crypto';
import type { PromptItem, Replay, StepReplay } from './model.ts';
import { isTooDeep } from './model-json.ts';

/** A larger response is sent back as our items, so that no journal record is much larger. */
const MAX_REPLAY_BYTES = 1024 * 1024;
const PREFIX_CHARS = 32;

/** The parts of a request that precede each response of the loop. */
export interface RequestPrefix {
  readonly model: string;
  /** The provider's address, the instructions, the tools and the reasoning. */
  readonly head: readonly string[];
  readonly prompt: readonly PromptItem[];
}

/**
 * Returns the replays that may be sent: those of the same model after the same prefix. Thinking is bound to everything
 * before it, also to the thinking that was sent before it. If a replay fits, its request had the same model and prefix as
 * this one, so the same replays before it fitted then: they are sent again, and the others are sent as items again.
 */
export function fittingReplays(
  prefix: RequestPrefix,
  replays: readonly StepReplay[],
  isWhole: (replay: StepReplay) => boolean,
): ReadonlyMap<number, StepReplay> {
  const fitting = new Map<number, StepReplay>();
  if (replays.length === 0) return fitting;
  const prefixAt = prefixHashes(prefix);
  for (const one of replays) {
    const { model, prefix: before } = one.replay;
    if (model === prefix.model && before === prefixAt(one.index) && isWhole(one)) fitting.set(one.index, one);
  }
  return fitting;
}

/** Returns null if the body is too large or too deep to be stored. */
export function newReplay(prefix: RequestPrefix, body: unknown): Replay | null {
  const text = toJson(body);
  if (text === null || Buffer.byteLength(text) > MAX_REPLAY_BYTES || isTooDeep(text)) return null;
  return { model: prefix.model, prefix: prefixHashes(prefix)(prefix.prompt.length), body };
}

function toJson(body: unknown): string | null {
  try {
    return JSON.stringify(body);
  } catch {
    return null;
  }
}

/** Returns a function for growing indexes. It hashes each item of the prompt once. */
function prefixHashes({ head, prompt }: RequestPrefix): (index: number) => string {
  const hash = createHash('sha256').update(JSON.stringify(head));
  let hashed = 0;
  return (index) => {
    for (; hashed < index; hashed += 1) hash.update(`\n${JSON.stringify(prompt[hashed])}`);
    return hash.copy().digest('hex').slice(0, PREFIX_CHARS);
  };
}
