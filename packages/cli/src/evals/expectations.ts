import { isDeepStrictEqual } from 'node:util';
import type { CallPattern, EvalCase, EvalRecord, Expect, Failure, RecordedCall, TextPattern } from './eval-case.ts';

/*
 * Each expectation is a pure function that gets a run's record. A judge is no such function: it asks a model.
 */

/** Returns what is wrong with a value, or null. */
export type SchemaProblem = (schema: Readonly<Record<string, unknown>>, value: unknown) => string | null;

type Check = (record: EvalRecord) => readonly Failure[];

/** Returns the expectations that the run does not meet. */
export function checkExpectations(
  { expect, recorded }: Pick<EvalCase, 'expect' | 'recorded'>,
  record: EvalRecord,
  schemaProblem: SchemaProblem,
): readonly Failure[] {
  const checks: readonly Check[] = [
    (run) => checkStatus(expect.status ?? 'completed', run),
    (run) => checkAsks(expect.asks, run),
    (run) => (expect.calls === 'same' ? checkSame(recorded?.calls ?? [], run) : checkCalls(expect.calls, run)),
    (run) => checkNotCalls(expect.notCalls, run),
    (run) => checkAgents(expect.agents, run),
    (run) => checkText(expect.text, run),
    (run) => checkOutput(expect.output, run, schemaProblem),
    (run) => checkLimits(expect, run),
  ];
  return checks.flatMap((check) => check(record));
}

const failure = (expectation: string, message: string): readonly Failure[] => [{ expectation, message }];
const NONE: readonly Failure[] = [];

function checkStatus(expected: string, { status, error }: EvalRecord): readonly Failure[] {
  if (status === expected) return NONE;
  const reason = error === null ? '' : ` (${error.code}: ${error.message})`;
  return failure('status', `The run ended as ${status}${reason}, not as ${expected}.`);
}

/** Exactly these tools ask, in any order. */
function checkAsks(expected: Expect['asks'], { asks }: EvalRecord): readonly Failure[] {
  if (expected === undefined || isDeepStrictEqual(expected.toSorted(), asks.toSorted())) return NONE;
  return failure('asks', `The run ends with questions about ${listed(asks)}, not about ${listed(expected)}.`);
}

/** These calls in this order. Others may be between them. */
function checkCalls(expected: Exclude<Expect['calls'], 'same'>, { calls }: EvalRecord): readonly Failure[] {
  let from = 0;
  for (const pattern of expected ?? []) {
    const wanted = typeof pattern === 'string' ? { tool: pattern } : pattern;
    const found = calls.findIndex((call, index) => index >= from && isMatch(call, wanted));
    if (found === -1) {
      const after = from === 0 ? '' : ` after ${callText(calls[from - 1])}`;
      const made = calls.length === 0 ? 'no tool was called' : `the calls are ${callsText(calls)}`;
      const text = `There is no call of ${patternText(wanted)}${after}; ${made}.`;
      return failure('calls', text);
    }
    from = found + 1;
  }
  return NONE;
}

function checkSame(expected: readonly RecordedCall[], { calls }: EvalRecord): readonly Failure[] {
  const isSame = expected.length === calls.length && expected.every((call, index) => isEqual(call, calls[index]));
  if (isSame) return NONE;
  return failure('calls', `The calls are ${callsText(calls)}; the recorded ones are ${callsText(expected)}.`);
}

function checkNotCalls(unwanted: readonly string[] = [], { calls }: EvalRecord): readonly Failure[] {
  return unwanted.flatMap((tool) => {
    const call = calls.find((one) => one.tool === tool);
    return call === undefined ? [] : failure('notCalls', `${callText(call)} was called.`);
  });
}

function checkAgents(expected: Expect['agents'], { agents }: EvalRecord): readonly Failure[] {
  if (expected === undefined || isDeepStrictEqual(expected, agents)) return NONE;
  return failure('agents', `The agents that spoke are ${listed(agents)}, not ${listed(expected)}.`);
}

function checkText(expected: TextPattern = {}, { text }: EvalRecord): readonly Failure[] {
  const { contains = [], notContains = [], matches, maxCharacters } = expected;
  const characters = [...text].length;
  return [
    ...contains
      .filter((part) => !text.includes(String(part)))
      .flatMap((part) => failure('text.contains', `The text does not contain “${part}”.`)),
    ...notContains
      .filter((part) => text.includes(String(part)))
      .flatMap((part) => failure('text.notContains', `The text contains “${part}”.`)),
    ...(matches === undefined || new RegExp(matches, 'u').test(text)
      ? NONE
      : failure('text.matches', `The text does not match /${matches}/.`)),
    ...(maxCharacters === undefined || characters <= maxCharacters
      ? NONE
      : failure('text.maxCharacters', `The text has ${characters} characters; at most ${maxCharacters} are allowed.`)),
  ];
}

function checkOutput(
  expected: Expect['output'],
  { output }: EvalRecord,
  schemaProblem: SchemaProblem,
): readonly Failure[] {
  if (expected === undefined) return NONE;
  const problem = expected.schema === undefined ? null : schemaProblem(expected.schema, output);
  return [
    ...(!('equals' in expected) || isDeepStrictEqual(expected.equals, output)
      ? NONE
      : failure('output.equals', `The output is ${json(output)}, not ${json(expected.equals)}.`)),
    ...(problem === null ? NONE : failure('output.schema', `The output ${json(output)} is wrong: ${problem}.`)),
  ];
}

function checkLimits({ maxSteps, maxTokens }: Expect, { steps, usage }: EvalRecord): readonly Failure[] {
  const modelSteps = steps.filter(({ kind }) => kind === 'model').length;
  const tokens = usage.total_tokens;
  return [
    ...(maxSteps === undefined || modelSteps <= maxSteps
      ? NONE
      : failure('maxSteps', `The run has ${modelSteps} model steps; at most ${maxSteps} are allowed.`)),
    ...(maxTokens === undefined || tokens <= maxTokens
      ? NONE
      : failure('maxTokens', `The run used ${tokens} tokens; at most ${maxTokens} are allowed.`)),
  ];
}

const isMatch = (call: RecordedCall, { tool, arguments: members = {} }: CallPattern): boolean =>
  call.tool === tool && isPart(members, parsed(call.arguments));

/** True if a value has everything that the pattern has. Objects may have other members; lists may not. */
function isPart(pattern: unknown, value: unknown): boolean {
  if (!isRecord(pattern)) return isDeepStrictEqual(pattern, value);
  return (
    isRecord(value) &&
    Object.entries(pattern).every(([name, inner]) => Object.hasOwn(value, name) && isPart(inner, value[name]))
  );
}

/** True if both calls have the same agent and tool, and equal arguments. */
export const isEqual = (one: RecordedCall, other: RecordedCall | undefined): boolean =>
  other !== undefined &&
  one.tool === other.tool &&
  one.agent === other.agent &&
  isDeepStrictEqual(parsed(one.arguments), parsed(other.arguments));

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A model can write arguments that are not JSON. An empty text means no arguments. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text.trim() === '' ? '{}' : text);
  } catch {
    return text;
  }
}

const MAX_SHOWN = 200;
const json = (value: unknown): string => cut(JSON.stringify(value) ?? 'undefined');
const cut = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
const listed = (names: readonly string[]): string => (names.length === 0 ? 'nothing' : names.join(', '));
const callText = (call: RecordedCall | undefined): string =>
  call === undefined ? '' : cut(`${call.tool}(${call.arguments})`);
const callsText = (calls: readonly RecordedCall[]): string => listed(calls.map(callText));
const patternText = ({ tool, arguments: members }: CallPattern): string =>
  members === undefined ? tool : `${tool} with ${json(members)}`;
