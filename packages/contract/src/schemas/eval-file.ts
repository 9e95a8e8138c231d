import type { Static, TSchema, TUnsafe } from 'typebox';
import { modelId, oneOfStrings, strictObject } from './kit.ts';
import { Type } from './type.ts';

/* The shape of `evals/*.yaml`. The server checks these files against it and serves it as `/evals.schema.json`. */

const runPattern = '^run_[0-9a-z]+$';

/** Explains what a pattern in eval files allows: "`field` is …; <sentence>". */
export const evalPatternSentences: Readonly<Record<string, string>> = {
  [runPattern]: 'write the id of a recorded run, such as `run_01m7x2`; `runwire evals record` writes it',
};

const part = <T>(name: string): TUnsafe<T> => Type.Unsafe<T>({ $ref: `#/definitions/${name}` });
const either = <T>(...schemas: TSchema[]): TUnsafe<T> => Type.Unsafe<T>({ anyOf: schemas });
const maybe = <T extends TSchema>(schema: T) => Type.Optional(schema);
const json = (description: string) => Type.Unsafe<unknown>({ description });
const free = () => Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' });
const words = () => Type.Array(either<string | number>(Type.String({ minLength: 1 }), Type.Number()), { minItems: 1 });
const names = () => Type.Array(Type.String({ minLength: 1 }));
const repeats = (description: string) => Type.Integer({ minimum: 1, maximum: 100, description });

const answer = strictObject({
  output: json('What the tool returns: text, or a value that the model gets as JSON.'),
  failed: maybe(Type.Boolean({ description: 'True if the call fails.' })),
});

const call = strictObject({
  tool: Type.String({ minLength: 1 }),
  arguments: maybe(
    Type.Unsafe<Readonly<Record<string, unknown>>>({
      type: 'object',
      description: 'The arguments must have these members. They may have others.',
    }),
  ),
});

const text = strictObject({
  contains: maybe(words()),
  notContains: maybe(words()),
  matches: maybe(Type.String({ minLength: 1, description: 'A regular expression of JavaScript.' })),
  maxCharacters: maybe(Type.Integer({ minimum: 0 })),
});

const judge = strictObject({
  criteria: Type.String({ minLength: 1, maxLength: 20_000, description: 'What a good answer is, for a model.' }),
  model: maybe(Type.String({ pattern: modelId, description: 'Absent: the model of the agency.' })),
  atLeast: maybe(
    Type.Number({ minimum: 0, maximum: 1, description: 'The smallest score that passes. 0.5 if absent.' }),
  ),
});

const output = strictObject({
  equals: maybe(json('The structured answer.')),
  schema: maybe(free()),
});

const expect = strictObject({
  status: maybe(oneOfStrings(['completed', 'failed', 'cancelled'], { description: '`completed` if absent.' })),
  asks: maybe(names()),
  calls: maybe(
    either<'same' | readonly (string | Static<typeof call>)[]>(
      oneOfStrings(['same']),
      Type.Array(either(Type.String({ minLength: 1 }), part('call')), { minItems: 1 }),
    ),
  ),
  notCalls: maybe(names()),
  agents: maybe(names()),
  text: maybe(part<Static<typeof text>>('text')),
  output: maybe(part<Static<typeof output>>('output')),
  judge: maybe(part<Static<typeof judge>>('judge')),
  maxSteps: maybe(Type.Integer({ minimum: 1, description: 'Model steps of all agents together.' })),
  maxTokens: maybe(Type.Integer({ minimum: 1 })),
});

const historyCall = strictObject({ callId: Type.String(), tool: Type.String(), arguments: free() });

const turn = strictObject({
  role: oneOfStrings(['user', 'assistant', 'tool']),
  content: maybe(Type.String()),
  agent: maybe(Type.String()),
  calls: maybe(Type.Array(part<Static<typeof historyCall>>('historyCall'), { minItems: 1 })),
  callId: maybe(Type.String()),
  output: maybe(Type.String()),
  failed: maybe(Type.Boolean()),
});

const evalCase = strictObject({
  name: Type.String({ minLength: 1, maxLength: 200 }),
  message: maybe(Type.String({ maxLength: 1_000_000 })),
  run: maybe(Type.String({ pattern: runPattern, description: 'A run in recorded.jsonl, in place of `message`.' })),
  agent: maybe(Type.String({ minLength: 1 })),
  userContext: maybe(either<Readonly<Record<string, unknown>> | string>(free(), Type.String())),
  history: maybe(Type.Array(part<Static<typeof turn>>('turn'), { maxItems: 1000 })),
  tools: maybe(
    Type.Unsafe<Readonly<Record<string, Static<typeof answer>>>>({
      type: 'object',
      additionalProperties: { $ref: '#/definitions/answer' },
    }),
  ),
  repeat: maybe(repeats('How often the case is run.')),
  atLeast: maybe(repeats('How many of the repeats must pass. All if absent.')),
  expect: part<Static<typeof expect>>('expect'),
});

export type EvalCaseFile = Static<typeof evalCase>;
export type ExpectFile = Static<typeof expect>;

export const EvalFile = strictObject(
  {
    name: Type.String({ minLength: 1, maxLength: 200 }),
    repeat: maybe(repeats('How often each case is run. 1 if absent.')),
    atLeast: maybe(repeats('How many of the repeats must pass. All if absent.')),
    cases: Type.Array(part<EvalCaseFile>('case'), { minItems: 1, maxItems: 1000 }),
  },
  {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Runwire evals',
    definitions: { case: evalCase, expect, call, text, output, judge, answer, turn, historyCall },
  },
);

export type EvalFile = Static<typeof EvalFile>;
