/*
 * The runs of the proofs `rerun` and `rerun-live`. A message names a run and a script: `r17 a`. A model answers by the
 * script, and by how far its prompt has come in it. So equal prompts get equal answers, in every run.
 */

/** A text, or a call. */
type Piece = string | Call;

export interface Call {
  readonly tool: string;
  readonly given?: object;
  /** The recipient's script. */
  readonly script?: string;
  /** The call ends only if a test ends it. */
  readonly isHeld?: true;
}

/** A model's answer. */
export interface Turn {
  readonly pieces: readonly Piece[];
  /** The answer's schema refuses it. */
  readonly isWrong?: true;
  readonly fails?: true;
  /** The model is silent until the run was cancelled. */
  readonly hangs?: true;
}

export type Answering = 'approve' | 'decline' | 'output' | 'ignore';

export interface Plan {
  /** The agent that is asked. */
  readonly agent: string;
  readonly scripts: Readonly<Record<string, readonly Turn[]>>;
  readonly end: 'completed' | 'failed' | 'cancelled';
  /** What the caller does with questions. */
  readonly answering?: Answering;
  /** True if the turns before the run are so long that a model sums them up. */
  readonly isLong?: true;
  /** What a model is sent in a run of this kind. */
  readonly shows?: RegExp;
}

const turn = (...pieces: readonly Piece[]): Turn => ({ pieces });
const buy = (n: number, more: Partial<Call> = {}): Call => ({ tool: 'buy', given: { n }, ...more });
const look = (n: number): Call => ({ tool: 'look', given: { n } });
const keep = (n: number): Call => ({ tool: 'keep', given: { n } });
const draw = (n: number): Call => ({ tool: 'draw', given: { n } });
const pay = (n: number): Call => ({ tool: 'pay', given: { n } });
const ask = (recipient: string, script: string): Call => ({
  tool: 'send_message',
  given: { recipient_agent: recipient },
  script,
});
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

const END = turn('It is ', 'done.');
const WRONG: Turn = { pieces: ['It is one.'], isWrong: true };
/** Turns with one to three calls. Some are equal. */
const shops = (variant: number) =>
  times(1 + (variant % 4), (at) =>
    turn('I look. ', ...times(1 + ((at + variant) % 3), (n) => (n === 1 ? look(at) : buy(at)))),
  );

const lead = (a: readonly Turn[], more: Partial<Plan> = {}): Plan => ({
  agent: 'Lead',
  end: 'completed',
  ...more,
  scripts: { a, ...more.scripts },
});
const asking = (a: readonly Turn[], answering: Answering) => lead([...a, END], { answering });
const structured = (...a: readonly Turn[]) => lead(a, { agent: 'Counter' });

/** By its kind, the plan of a run; each variant has other calls. */
export const KINDS: Readonly<Record<string, (variant: number) => Plan>> = {
  tools: (variant) => lead([...shops(variant), END]),
  'failing tools': (variant) => lead([turn(buy(-1), look(variant), buy(-1)), turn(buy(-1)), END]),
  delegation: (variant) =>
    lead([turn('I ask. ', ask('Billing', 'b'), buy(1)), ...shops(variant), END], {
      scripts: { b: [...shops(variant + 1), turn('I looked.')] },
    }),
  'nested delegations': (variant) =>
    lead([turn(ask('Billing', 'b'), ask('Facts', 'c'), look(1)), turn(ask('Billing', 'e')), END], {
      scripts: {
        b: [turn(ask('Clerk', 'd'), buy(1)), turn('It is so.')],
        c: [...shops(variant), turn('In May.')],
        d: [turn(look(2)), turn('File 7.')],
        e: [turn('As before.')],
      },
    }),
  'hand-off': (variant) =>
    lead([turn('One moment. ', { tool: 'transfer_to_Closer', given: {} }), ...shops(variant), END]),
  approval: (variant) => asking([...shops(variant), turn('I pay. ', pay(1), ...times(variant % 2, look))], 'approve'),
  'chain of questions': (variant) =>
    asking([turn(pay(1)), turn(pay(variant), pay(2)), turn(look(3)), turn(pay(3))], 'approve'),
  'declined question': (variant) => asking([turn(pay(1)), ...shops(variant)], 'decline'),
  'ignored question': (variant) => asking([turn(look(variant), pay(1)), turn(look(4))], 'ignore'),
  'tool of the caller': (variant) => asking([turn({ tool: 'locate', given: {} }), ...shops(variant)], 'output'),
  'question of a delegated agent': (variant) =>
    lead([turn(ask('Billing', 'b'), look(1)), END], {
      answering: 'approve',
      scripts: { b: [turn(look(variant)), turn(pay(1)), turn('It is paid.')] },
    }),
  command: (variant) =>
    lead(
      [
        turn({ tool: 'run_command', given: { command: 'echo a >> log; cat log', folder: '/app/mnt/u' } }),
        ...shops(variant),
        turn({ tool: 'write_file', given: { path: '/app/mnt/u/note', content: `note ${variant}` } }),
        END,
      ],
      { agent: 'Worker' },
    ),
  structured: (variant) => structured(...shops(variant), turn('{"n":', '1}')),
  'repaired answer': (variant) => structured(WRONG, ...shops(variant), WRONG, turn('{"n":2}')),
  'wrong answers': () => ({ ...structured(turn(buy(1)), WRONG, WRONG, WRONG), end: 'failed' }),
  fallback: (variant) => lead([...shops(variant), END], { agent: 'Tired' }),
  'failed model': (variant) => lead([...shops(variant), { pieces: ['I thi'], fails: true }], { end: 'failed' }),
  'failed delegation': (variant) =>
    lead([turn(ask('Billing', 'b'), buy(2)), END], {
      scripts: { b: [...shops(variant), { pieces: [], fails: true }] },
    }),
  images: (variant) =>
    lead([turn(draw(1), buy(1)), ...shops(variant), turn(draw(1)), END], { agent: 'Painter', shows: /iVBORw0KGgo/ }),
  state: (variant) =>
    lead([turn(keep(1), keep(2)), ...shops(variant), turn(keep(1)), END], {
      agent: 'Keeper',
      shows: /output \d+ \[1\]/,
    }),
  guardrails: (variant) =>
    lead([turn(buy(8), buy(9), look(1)), ...shops(variant), END], {
      agent: 'Guarded',
      shows: /masked \d+.*Nine are too many/,
    }),
  summary: (variant) => lead([...shops(variant), END], { isLong: true, shows: /They said hello/ }),
  'cancelled model': (variant) => lead([...shops(variant), { pieces: ['Late.'], hangs: true }], { end: 'cancelled' }),
  'cancelled tool': (variant) => lead([...shops(variant), turn(buy(9, { isHeld: true })), END], { end: 'cancelled' }),
};

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The agency. Its tools are served, and their calls counted, by the test's process. */
export const AGENCY_FILES = {
  'again/agency.yaml': `name: Again
toolFiles: [./tools.ts]
agents:
  - { name: Lead, description: Leads., instructions: You are Lead., files: false, tools: [buy, look, pay, locate] }
  - { name: Billing, description: Bills., instructions: You are Billing., files: false, tools: [buy, look, pay] }
  - { name: Facts, description: Knows., instructions: You are Facts., files: false, tools: [buy, look] }
  - { name: Clerk, description: Finds., instructions: You are Clerk., files: false, tools: [buy, look] }
  - { name: Closer, description: Closes., instructions: You are Closer., files: false, tools: [buy, look] }
  - { name: Worker, description: Works., instructions: You are Worker., sandbox: true, tools: [buy, look] }
  - { name: Painter, description: Paints., instructions: You are Painter., files: false, tools: [draw, buy, look] }
  - name: Keeper
    description: Keeps.
    instructions: You are Keeper. {{state.n}}
    files: false
    tools: [keep, buy, look]
  - name: Guarded
    description: Is checked.
    instructions: You are Guarded.
    files: false
    tools: [buy, look]
    guardrails: [read, limit, mask, sign]
  - name: Counter
    description: Counts.
    instructions: You are Counter.
    files: false
    tools: [buy, look]
    output: { type: object, properties: { n: { type: integer } }, required: [n], additionalProperties: false }
  - name: Tired
    description: Is replaced.
    instructions: You are Tired.
    files: false
    tools: [buy, look]
    model: openai/tired
    fallback: [scripted/model]
flows:
  - Lead -> Billing
  - Lead -> Facts
  - Billing -> Clerk
  - Lead => Closer
`,
  'again/tools.ts': `import { connect } from 'node:net';
import { defineGuardrail } from '@runwire/agency';

const served = (more) => ({
  description: 'Is served by the test.',
  inputSchema: { type: 'object', properties: { port: { type: 'integer' }, n: { type: 'integer' } } },
  execute: ({ port, n }, { callId, idempotencyKey }) =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', reject);
      socket.once('data', (data) => {
        socket.end();
        const text = String(data).trim();
        if (n === -1) reject(new Error(text));
        else resolve(text);
      });
      socket.write(\`\${JSON.stringify({ callId, idempotencyKey })}\\n\`);
    }),
  ...more,
});

export const buy = served({});
export const look = served({ repeatable: true });
export const pay = served({ needsApproval: true });
export const draw = served({
  toModelOutput: ({ output }) => ({
    type: 'content',
    value: [
      { type: 'text', text: output },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: '${PIXEL}' } },
    ],
  }),
});
export const keep = served({
  async execute(input, options) {
    const text = await buy.execute(input, options);
    options.state.set('n', [...(options.state.get('n') ?? []), input.n]);
    return text + ' ' + JSON.stringify(options.state.get('n'));
  },
});

export const read = defineGuardrail({ name: 'read', on: 'input', check: () => ({ pass: true }) });
export const limit = defineGuardrail({
  name: 'limit',
  on: 'toolCall',
  check: ({ arguments: given }) =>
    given.n === 9 ? { block: 'Nine are too many.' } : given.n === 8 ? { replace: { ...given, n: 7 } } : { pass: true },
});
export const mask = defineGuardrail({
  name: 'mask',
  on: 'toolResult',
  check: ({ output }) => ({ replace: output.replace('output', 'masked') }),
});
export const sign = defineGuardrail({
  name: 'sign',
  on: 'output',
  check: ({ text }) => ({ replace: text + ' Signed.' }),
});
export const locate = { description: 'Only the caller can.', inputSchema: { type: 'object' } };
`,
};

/** The tools that the test's process serves. */
export const SERVED: ReadonlySet<string> = new Set(['buy', 'look', 'pay', 'draw', 'keep']);
