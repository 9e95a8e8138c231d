import type { RecordedCall } from './eval-case.ts';
import { isEqual } from './expectations.ts';

/** A part that two texts or lists share, or that only one has. */
export interface Change<T> {
  readonly kind: 'equal' | 'removed' | 'added';
  readonly value: T;
}

/** Longer texts are shown whole. */
const MAX_CELLS = 4_000_000;

/** The words that an answer has more or less than the reference, with the spaces between them. */
export function diffTexts(reference: string, text: string): readonly Change<string>[] {
  const changes = diff(splitWords(reference), splitWords(text), (one, other) => one === other);
  const joined: Change<string>[] = [];
  for (const { kind, value } of changes) {
    const last = joined.at(-1);
    if (last?.kind === kind) joined[joined.length - 1] = { kind, value: last.value + value };
    else joined.push({ kind, value });
  }
  return joined;
}

/** The calls that a run has more or less than the recorded one. */
export const diffCalls = (
  recorded: readonly RecordedCall[],
  calls: readonly RecordedCall[],
): readonly Change<RecordedCall>[] => diff(recorded, calls, isEqual);

const splitWords = (text: string): readonly string[] => text.match(/\s+|[^\s]+/gu) ?? [];

/** Finds a longest common sequence. */
function diff<T>(
  before: readonly T[],
  after: readonly T[],
  isSame: (one: T, other: T) => boolean,
): readonly Change<T>[] {
  const width = after.length + 1;
  const change = (kind: Change<T>['kind']) => (value: T) => ({ kind, value });
  if ((before.length + 1) * width > MAX_CELLS) return [...before.map(change('removed')), ...after.map(change('added'))];
  // How much the rests have in common, by their starts.
  const lengths = new Uint32Array((before.length + 1) * width);
  const length = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] = isSame(before[row] as T, after[column] as T)
        ? length(row + 1, column + 1) + 1
        : Math.max(length(row + 1, column), length(row, column + 1));
    }
  }
  const changes: Change<T>[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [one, other] = [before[row] as T, after[column] as T];
    if (row < before.length && column < after.length && isSame(one, other)) {
      changes.push({ kind: 'equal', value: other });
      row += 1;
      column += 1;
    } else if (column === after.length || (row < before.length && length(row + 1, column) >= length(row, column + 1))) {
      changes.push({ kind: 'removed', value: one });
      row += 1;
    } else {
      changes.push({ kind: 'added', value: other });
      column += 1;
    }
  }
  return changes;
}
