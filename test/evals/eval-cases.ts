/* Cases with every kind of expectation, each as it passes and as it fails. */

export interface ExpectedCase {
  readonly status: 'passed' | 'failed' | 'error';
  /** The names of the expectations that fail. */
  readonly failures: readonly string[];
  readonly repeats: number;
  readonly passed: number;
  readonly hasJudge: boolean;
}

type Case = Readonly<Record<string, unknown>> & { readonly name: string };

const FIND = 'call find_invoice {"invoice":"A1","currency":"EUR"}';
const ASK = 'call refund {"invoice":"A1","cents":9900}';
const TOOLS = { find_invoice: { output: { invoice: 'A1', cents: 9900 } } };
const lines = (...all: readonly string[]) => all.join('\n');
const delegate = (script: string) =>
  `call send_message ${JSON.stringify({ recipient_agent: 'Reporter', message: script })}`;

/** A message with its tools, expectations that its run meets, and the same kind that it does not meet. */
interface Kind {
  readonly name: string;
  readonly message: string;
  readonly agent?: string;
  readonly passes: readonly object[];
  /** With the name of the expectation. */
  readonly fails: readonly (readonly [string, object])[];
}

const KINDS: readonly Kind[] = [
  {
    name: 'status',
    message: 'fail',
    passes: [{ status: 'failed' }],
    fails: [
      ['status', {}],
      ['status', { status: 'completed' }],
      ['status', { status: 'cancelled' }],
    ],
  },
  {
    name: 'asks',
    message: lines(FIND, ASK),
    agent: 'Billing',
    passes: [{ asks: ['refund'] }, { asks: ['refund'], calls: ['find_invoice', 'refund'] }],
    fails: [
      ['asks', { asks: [] }],
      ['asks', { asks: ['refund', 'refund'] }],
    ],
  },
  {
    name: 'calls',
    message: lines(FIND, 'call find_invoice {"invoice":"B2"}', 'say Done.'),
    passes: [
      { calls: ['find_invoice'] },
      { calls: ['find_invoice', { tool: 'find_invoice', arguments: { invoice: 'B2' } }] },
      { calls: [{ tool: 'find_invoice', arguments: { currency: 'EUR' } }] },
    ],
    fails: [
      ['calls', { calls: ['close_account'] }],
      ['calls', { calls: [{ tool: 'find_invoice', arguments: { invoice: 'B2' } }, 'find_invoice'] }],
      ['calls', { calls: [{ tool: 'find_invoice', arguments: { invoice: 'C3' } }] }],
      ['calls', { calls: ['find_invoice', 'find_invoice', 'find_invoice'] }],
    ],
  },
  {
    name: 'notCalls',
    message: lines(FIND, 'call close_account', 'say Closed.'),
    passes: [{ notCalls: ['refund'] }, { notCalls: [] }],
    fails: [['notCalls', { notCalls: ['refund', 'close_account'] }]],
  },
  {
    name: 'agents',
    message: lines('call transfer_to_Billing', 'say I am Billing.'),
    passes: [{ agents: ['Triage', 'Billing'] }],
    fails: [
      ['agents', { agents: ['Triage'] }],
      ['agents', { agents: ['Billing', 'Triage'] }],
    ],
  },
  {
    name: 'delegation',
    message: lines(delegate('say {"n":1}'), 'say It is 1.'),
    passes: [{ calls: ['send_message'], text: { contains: [1] } }, { text: { notContains: ['{'] } }],
    fails: [['text.contains', { text: { contains: ['{"n":1}'] } }]],
  },
  {
    name: 'text',
    message: lines(FIND, 'say The refund is 99 euros.'),
    passes: [
      { text: { contains: ['refund', 99] } },
      { text: { matches: '\\d+ euros?\\.$' } },
      { text: { notContains: ['guarantee', 98] } },
      { text: { maxCharacters: 23 } },
      { text: { contains: ['99'], notContains: ['100'], matches: '^The' } },
    ],
    fails: [
      ['text.contains', { text: { contains: [100] } }],
      ['text.contains', { text: { contains: ['REFUND'] } }],
      ['text.matches', { text: { matches: '^\\d+$' } }],
      ['text.notContains', { text: { notContains: [99] } }],
      ['text.maxCharacters', { text: { maxCharacters: 22 } }],
    ],
  },
  {
    name: 'output',
    message: 'say {"n":3}',
    agent: 'Reporter',
    passes: [
      { output: { equals: { n: 3 } } },
      { output: { schema: { type: 'object', properties: { n: { minimum: 3 } } } } },
    ],
    fails: [
      ['output.equals', { output: { equals: { n: 4 } } }],
      ['output.schema', { output: { schema: { type: 'object', properties: { n: { minimum: 4 } } } } }],
    ],
  },
  {
    name: 'limits',
    message: lines(FIND, 'say Done.'),
    passes: [{ maxSteps: 2, maxTokens: 100 }, { maxSteps: 3 }],
    fails: [
      ['maxSteps', { maxSteps: 1 }],
      ['maxTokens', { maxTokens: 99 }],
      ['maxTokens', { maxSteps: 2, maxTokens: 1 }],
    ],
  },
  {
    name: 'judge',
    message: 'say Good morning.',
    passes: [
      { judge: { criteria: 'score 0.5' } },
      { judge: { criteria: 'score 0.7', atLeast: 0.7 } },
      { judge: { criteria: 'score 0', atLeast: 0 } },
      { judge: { criteria: 'score 1', model: 'openai/other-model' } },
    ],
    fails: [
      ['judge', { judge: { criteria: 'score 0.4' } }],
      ['judge', { judge: { criteria: 'score 0.69', atLeast: 0.7 } }],
      ['judge', { judge: { criteria: 'score 0.9', atLeast: 1 } }],
    ],
  },
];

const RECORDED = {
  runId: 'run_recorded1',
  agent: 'Triage',
  message: lines(FIND, 'say The invoice is over 99 euros.'),
  history: [
    { role: 'user', content: 'Hello.' },
    { role: 'assistant', content: 'Hello, how can I help?' },
  ],
  text: 'The invoice is over 98 euros.',
  calls: [
    {
      ...{ agent: 'Triage', callerAgent: null, tool: 'find_invoice', arguments: '{"currency":"EUR","invoice":"A1"}' },
      ...{ output: '{"cents":9900}', failed: false },
    },
  ],
};
const OTHER_CALLS = { ...RECORDED, runId: 'run_recorded2', calls: [...RECORDED.calls, ...RECORDED.calls] };

export const RECORDED_FILE = `${JSON.stringify(RECORDED)}\n${JSON.stringify(OTHER_CALLS)}\n`;

const SPECIAL: readonly (readonly [Case, Omit<ExpectedCase, 'repeats' | 'hasJudge'>])[] = [
  [
    { name: 'recorded: the same calls', run: 'run_recorded1', expect: { calls: 'same' } },
    { status: 'passed', failures: [], passed: 1 },
  ],
  [
    { name: 'recorded: other calls', run: 'run_recorded2', expect: { calls: 'same' } },
    { status: 'failed', failures: ['calls'], passed: 0 },
  ],
  [
    {
      name: 'recorded: judged by the reference',
      run: 'run_recorded1',
      expect: { calls: 'same', judge: { criteria: 'score 0.8' } },
    },
    { status: 'passed', failures: [], passed: 1 },
  ],
  [
    { name: 'a judge that fails', message: 'say Hi.', expect: { judge: { criteria: 'break' } } },
    { status: 'error', failures: ['judge'], passed: 0 },
  ],
  [
    {
      name: 'a failing text and a judge that fails',
      message: 'say Hi.',
      expect: { text: { contains: ['Bye'] }, judge: { criteria: 'break' } },
    },
    { status: 'error', failures: ['text.contains', 'judge'], passed: 0 },
  ],
  [
    {
      name: 'repeats: two of three pass',
      repeat: 3,
      atLeast: 2,
      message: 'vary good|bad|good',
      expect: { text: { contains: ['good'] } },
    },
    { status: 'passed', failures: ['text.contains'], passed: 2 },
  ],
  [
    {
      name: 'repeats: one of three passes',
      repeat: 3,
      atLeast: 2,
      message: 'vary good|bad|bad',
      expect: { text: { contains: ['good'] } },
    },
    { status: 'failed', failures: ['text.contains'], passed: 1 },
  ],
  [
    { name: 'repeats: all must pass', repeat: 2, message: 'vary yes|no', expect: { text: { contains: ['yes'] } } },
    { status: 'failed', failures: ['text.contains'], passed: 1 },
  ],
  [
    {
      name: 'a tool that fails',
      message: lines(FIND, 'say It failed.'),
      tools: { find_invoice: { output: 'Gone.', failed: true } },
      expect: { calls: ['find_invoice'] },
    },
    { status: 'passed', failures: [], passed: 1 },
  ],
  [
    {
      name: 'history & <odd> "names"',
      message: 'say Again.',
      history: [
        { role: 'user', content: 'Hi.' },
        { role: 'assistant', content: 'Hi!' },
      ],
      userContext: { plan: 'pro' },
      expect: { maxSteps: 1 },
    },
    { status: 'passed', failures: [], passed: 1 },
  ],
];

function ofKind({ name, message, agent, passes, fails }: Kind): [Case, ExpectedCase][] {
  const start = { message, tools: TOOLS, ...(agent === undefined ? {} : { agent }) };
  const expected = (expect: object, failure: string | null): ExpectedCase => ({
    status: failure === null ? 'passed' : 'failed',
    failures: failure === null ? [] : [failure],
    repeats: 1,
    passed: failure === null ? 1 : 0,
    hasJudge: 'judge' in expect,
  });
  return [
    ...passes.map((expect, index): [Case, ExpectedCase] => [
      { name: `${name} ${index + 1} passes`, ...start, expect },
      expected(expect, null),
    ]),
    ...fails.map(([failure, expect], index): [Case, ExpectedCase] => [
      { name: `${name} ${index + 1} fails`, ...start, expect },
      expected(expect, failure),
    ]),
  ];
}

const ALL: readonly (readonly [Case, ExpectedCase])[] = [
  ...KINDS.flatMap(ofKind),
  ...SPECIAL.map(
    ([one, expected]) =>
      [
        one,
        { ...expected, repeats: Number(one.repeat ?? 1), hasJudge: JSON.stringify(one.expect).includes('score') },
      ] as const,
  ),
];

export const CASES: readonly Case[] = ALL.map(([one]) => one);

/** What the report has of each case, by its name. */
export const EXPECTED: ReadonlyMap<string, ExpectedCase> = new Map(ALL.map(([one, expected]) => [one.name, expected]));
