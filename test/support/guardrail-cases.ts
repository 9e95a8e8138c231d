import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelCall } from '@runwire/test-kit';
import { AgenciesFolder } from './agencies-folder.ts';

/*
 * An agency whose guardrails obey what they check: `DIRTY-output-block` is a text that the guardrail on `output` blocks. Its
 * process notes each check in a file, so it survives the servers.
 */

export const POSITIONS = ['input', 'toolCall', 'toolResult', 'output'] as const;
export type Position = (typeof POSITIONS)[number];
export type Verdict = 'pass' | 'block' | 'replace' | 'ask';

export const dirty = (position: Position, verdict: Verdict, key = '') => `DIRTY-${position}-${verdict}-${key}.`;

const TOOLS = `import { appendFileSync } from 'node:fs';
import { defineGuardrail, defineTool } from '@runwire/agency';
const note = (file, value) => appendFileSync(new URL(file, import.meta.url), JSON.stringify(value) + '\\n');
const clean = (text) => text.replaceAll(/DIRTY-[^.]*/g, '[removed]');
function decide(name, on, about) {
  const { tool, arguments: given } = about;
  const value = on === 'toolCall' ? JSON.stringify(given) : (about.output ?? about.text);
  note('./asked.txt', [name, tool ?? '', value]);
  const [, verdict] = new RegExp('DIRTY-' + on + '-(\\\\w+)').exec(value) ?? [];
  if (verdict === 'block') return { block: 'Blocked by ' + name + '.' };
  if (verdict === 'ask') return { ask: true };
  if (verdict !== 'replace') return { pass: true };
  return { replace: on === 'toolCall' ? JSON.parse(clean(value)) : clean(value) };
}
const rail = (name, on) => defineGuardrail({ name, on, check: (about) => decide(name, on, about) });
export const r1 = rail('on_input', 'input');
export const r2 = rail('on_output', 'output');
export const r3 = rail('on_toolCall', 'toolCall');
export const r4 = rail('on_toolResult', 'toolResult');
export const look_up = defineTool({
  name: 'look_up',
  description: 'Looks it up.',
  inputSchema: { type: 'object' },
  repeatable: true,
  execute(input) {
    note('./made.txt', input);
    return 'Found ' + (input.verdict === undefined ? 'it.' : 'DIRTY-toolResult-' + input.verdict + '-' + input.key + '.');
  },
});
`;

const agent = (name: string, more = '') => `  - name: ${name}
    description: ${name} is asked.
    instructions: You are ${name}.
    tools: [look_up]
    files: false
${more}`;

const AGENCY = `name: Guarded
toolFiles: [./tools.ts]
guardrails: [on_input, on_output, on_toolCall, on_toolResult]
agents:
${agent('Lead')}${agent('Helper')}${agent('Judge', '    output: { type: object, properties: { text: { type: string } }, required: [text] }\n')}
flows: [Lead -> Helper]
`;

export class GuardedFolder extends AgenciesFolder {
  constructor() {
    super({
      'guarded/tools.ts': TOOLS,
      'guarded/agency.yaml': AGENCY,
      'guarded/asked.txt': '',
      'guarded/made.txt': '',
    });
  }

  #read(file: string): readonly string[] {
    const text = readFileSync(join(this.path, 'guarded', file), 'utf8');
    return text.split('\n').filter((line) => line !== '');
  }

  /** Each check: the guardrail, the tool, and what was checked. */
  get asked(): readonly string[] {
    return this.#read('asked.txt');
  }

  /** The input of each call that was made. */
  get made(): readonly string[] {
    return this.#read('made.txt');
  }

  forget(): void {
    for (const file of ['asked.txt', 'made.txt']) writeFileSync(join(this.path, 'guarded', file), '');
  }
}

/** One way in which a dirty value reaches a guardrail. */
export interface GuardrailCase {
  readonly position: Position;
  readonly verdict: Verdict;
  readonly mode: 'streamed' | 'text only' | 'delegated' | 'structured';
}

export const CASES: readonly GuardrailCase[] = POSITIONS.flatMap((position) =>
  (['pass', 'block', 'replace', 'ask'] as const)
    .filter((verdict) => verdict !== 'ask' || position === 'toolCall')
    .flatMap((verdict) =>
      (['streamed', 'text only', 'delegated', 'structured'] as const).map((mode) => ({ position, verdict, mode })),
    ),
);

const say = async (call: ModelCall, text: string) => {
  for (const piece of text.match(/\S+\s*/g) ?? []) await call.text(piece);
  await call.end();
};

const outputs = ({ request }: ModelCall) => request.prompt.filter(({ kind }) => kind === 'tool_output').length;

/** The call of `look_up` that the case makes. */
const lookUp = (one: GuardrailCase, key: string) => {
  if (one.position === 'toolCall') return { text: dirty('toolCall', one.verdict, key) };
  return one.position === 'toolResult' && one.mode !== 'delegated' ? { verdict: one.verdict, key } : {};
};

/** Answers as the agent of the case. `key` makes the texts of the case its own. */
export async function answerCase(call: ModelCall, one: GuardrailCase, key: string): Promise<void> {
  const name = /^You are (\w+)\./.exec(call.request.instructions)?.[1];
  const seen = outputs(call);
  if (name === 'Helper') {
    if (one.position === 'toolCall' && seen === 0) {
      await call.toolCall(`h-${key}`, 'look_up', JSON.stringify(lookUp(one, key)));
      await call.end();
    } else
      await say(call, one.position === 'toolResult' ? `Helped ${dirty('toolResult', one.verdict, key)}` : 'Helped.');
    return;
  }
  if (seen === 0) {
    const given = { recipient_agent: 'Helper', message: 'Help.' };
    const isDelegated = one.mode === 'delegated';
    const call_ = isDelegated ? (['send_message', given] as const) : (['look_up', lookUp(one, key)] as const);
    await call.toolCall(`c-${key}`, call_[0], JSON.stringify(call_[1]));
    await call.end();
    return;
  }
  const text = one.position === 'output' ? `Answer ${dirty('output', one.verdict, key)}` : 'Answer.';
  await say(call, name === 'Judge' ? JSON.stringify({ text }) : text);
}
