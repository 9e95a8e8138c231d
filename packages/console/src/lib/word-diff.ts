/** A part of a text that is compared with another one. */
export interface ComparedPart {
  readonly text: string;
  /** True if the other text does not have it here. */
  readonly isChanged: boolean;
}

export interface WordDiff {
  readonly left: readonly ComparedPart[];
  readonly right: readonly ComparedPart[];
}

/** Texts with more differences are marked from the first to the last difference. Takes at most about 20 ms. */
const MAX_EDITS = 800;

const words = new Intl.Segmenter('en', { granularity: 'word' });
const toWords = (text: string): readonly string[] => Array.from(words.segment(text), ({ segment }) => segment);

/** Marks the words in which two texts differ. */
export function diffWords(leftText: string, rightText: string): WordDiff {
  const [left, right] = [toWords(leftText), toWords(rightText)];
  const most = Math.min(left.length, right.length);
  let begin = 0;
  while (begin < most && left[begin] === right[begin]) begin += 1;
  let end = 0;
  while (end < most - begin && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  const middle = [left.slice(begin, left.length - end), right.slice(begin, right.length - end)] as const;
  const common = walkBack(findWays(...middle), middle[0].length, middle[1].length);
  const isChanged = (side: 0 | 1) => (index: number) => {
    const inMiddle = index - begin;
    return inMiddle >= 0 && inMiddle < middle[side].length && !common[side].has(inMiddle);
  };
  return { left: toParts(left, isChanged(0)), right: toParts(right, isChanged(1)) };
}

/**
 * By the number of edits so far and the diagonal: how many words of the left the best way has passed. The positions of a
 * diagonal have the same difference.
 */
type Ways = readonly Int32Array[];

const at = (ways: Int32Array, diagonal: number): number => ways[diagonal + MAX_EDITS + 1] ?? 0;

/** True if the last edit of the best way to the diagonal adds a word of the right; otherwise it removes one of the left. */
const addsWord = (ways: Int32Array, diagonal: number, edits: number): boolean =>
  diagonal === -edits || (diagonal !== edits && at(ways, diagonal - 1) < at(ways, diagonal + 1));

const afterEdit = (ways: Int32Array, diagonal: number, edits: number): number =>
  addsWord(ways, diagonal, edits) ? at(ways, diagonal + 1) : at(ways, diagonal - 1) + 1;

/** Finds the least edits from one list to the other, by the algorithm of Myers. Null if there are too many. */
function findWays(left: readonly string[], right: readonly string[]): Ways | null {
  const furthest = new Int32Array(2 * MAX_EDITS + 3);
  const ways: Int32Array[] = [];
  for (let edits = 0; edits <= MAX_EDITS; edits += 1) {
    ways.push(furthest.slice());
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let one = afterEdit(furthest, diagonal, edits);
      while (one < left.length && one - diagonal < right.length && left[one] === right[one - diagonal]) one += 1;
      furthest[diagonal + MAX_EDITS + 1] = one;
      if (one >= left.length && one - diagonal >= right.length) return ways;
    }
  }
  return null;
}

/** Returns the positions of the words that both lists have on the best way. */
function walkBack(ways: Ways | null, leftLength: number, rightLength: number) {
  const common = [new Set<number>(), new Set<number>()] as const;
  let [one, other] = [leftLength, rightLength];
  for (const [edits, before] of [...(ways ?? []).entries()].reverse()) {
    const diagonal = one - other;
    const isAdded = addsWord(before, diagonal, edits);
    for (const from = edits === 0 ? 0 : afterEdit(before, diagonal, edits); one > from; one -= 1, other -= 1) {
      common[0].add(one - 1);
      common[1].add(other - 1);
    }
    if (isAdded) other -= 1;
    else one -= 1;
  }
  return common;
}

/** Joins neighbours. Space between two changed words is changed too. */
function toParts(list: readonly string[], isChanged: (index: number) => boolean): readonly ComparedPart[] {
  const parts: { text: string; isChanged: boolean }[] = [];
  for (const [index, text] of list.entries()) {
    const changed = isChanged(index) || (text.trim() === '' && isChanged(index - 1) && isChanged(index + 1));
    const last = parts.at(-1);
    if (last?.isChanged === changed) last.text += text;
    else parts.push({ text, isChanged: changed });
  }
  return parts;
}
