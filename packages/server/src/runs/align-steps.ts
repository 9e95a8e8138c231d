/** A step as two runs are compared: `key` is equal for steps with the same kind, agent, tool and arguments. */
export interface ComparedStep<S> {
  readonly step: S;
  readonly kind: string;
  readonly key: string;
}

export interface AlignedSteps<S> {
  readonly left: S | null;
  readonly right: S | null;
  readonly change: 'equal' | 'changed' | 'added' | 'removed';
}

/** Comparisons of one step with another. Larger parts in which two runs differ are compared by position. About 20 ms. */
const MAX_COMPARISONS = 4_000_000;

type Steps<S> = readonly ComparedStep<S>[];

/** Aligns the steps of two runs: as many equal steps as possible, and between them steps of the same kind by position. */
export function alignSteps<S>(left: Steps<S>, right: Steps<S>): AlignedSteps<S>[] {
  const shorter = Math.min(left.length, right.length);
  let begin = 0;
  while (begin < shorter && left[begin]?.key === right[begin]?.key) begin += 1;
  let end = 0;
  while (end < shorter - begin && left.at(-1 - end)?.key === right.at(-1 - end)?.key) end += 1;
  const middle = { left: left.slice(begin, left.length - end), right: right.slice(begin, right.length - end) };
  return [
    ...left.slice(0, begin).map((one, index) => equal(one, right[index])),
    ...alignDifferent(middle.left, middle.right),
    ...left.slice(left.length - end).map((one, index) => equal(one, right[right.length - end + index])),
  ];
}

const equal = <S>(left: ComparedStep<S>, right: ComparedStep<S> | undefined): AlignedSteps<S> => ({
  left: left.step,
  right: right?.step ?? null,
  change: 'equal',
});

function alignDifferent<S>(left: Steps<S>, right: Steps<S>): AlignedSteps<S>[] {
  if (left.length * right.length > MAX_COMPARISONS) return alignByPosition(left, right);
  const width = right.length + 1;
  /** By the positions in both lists: how many steps after them can be equal. */
  const equalAfter = new Uint32Array((left.length + 1) * width);
  const at = (one: number, other: number) => equalAfter[one * width + other] ?? 0;
  for (let one = left.length - 1; one >= 0; one -= 1)
    for (let other = right.length - 1; other >= 0; other -= 1)
      equalAfter[one * width + other] =
        left[one]?.key === right[other]?.key
          ? at(one + 1, other + 1) + 1
          : Math.max(at(one + 1, other), at(one, other + 1));
  const aligned: AlignedSteps<S>[] = [];
  let [one, other] = [0, 0];
  let [fromLeft, fromRight] = [0, 0];
  while (one < left.length && other < right.length) {
    const [step, same] = [left[one], right[other]];
    if (step !== undefined && step.key === same?.key) {
      aligned.push(...alignByPosition(left.slice(fromLeft, one), right.slice(fromRight, other)), equal(step, same));
      one += 1;
      other += 1;
      [fromLeft, fromRight] = [one, other];
    } else if (at(one + 1, other) >= at(one, other + 1)) one += 1;
    else other += 1;
  }
  return [...aligned, ...alignByPosition(left.slice(fromLeft), right.slice(fromRight))];
}

function alignByPosition<S>(left: Steps<S>, right: Steps<S>): AlignedSteps<S>[] {
  const aligned: AlignedSteps<S>[] = [];
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const [one, other] = [left[index], right[index]];
    if (one !== undefined && one.kind === other?.kind) {
      aligned.push({ left: one.step, right: other.step, change: 'changed' });
      continue;
    }
    if (one !== undefined) aligned.push({ left: one.step, right: null, change: 'removed' });
    if (other !== undefined) aligned.push({ left: null, right: other.step, change: 'added' });
  }
  return aligned;
}
