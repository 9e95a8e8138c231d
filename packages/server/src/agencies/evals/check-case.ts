import type { EvalCaseFile, EvalFile } from '@runwire/contract/schemas';
import { validateJsonSchema } from '@runwire/lib/json-schema.ts';
import { handOffName } from '../../domain/run/hand-off-name.ts';
import { comparedFields, nearestField } from '../../domain/unknown-fields.ts';
import type { Faults, Location, Path } from '../fault.ts';
import type { LoadedAgency } from '../loaded-agency.ts';
import type { RecordedRun } from './recorded-runs.ts';

/** What checks know besides the file. */
export interface CaseContext {
  /** Null if the agency is not known here. */
  readonly agency: LoadedAgency | null;
  /** Returns what to do if the model cannot be used, or null. */
  readonly models: { problem(id: string): string | null } | null;
  /** By the ids of their runs. */
  readonly recorded: ReadonlyMap<string, RecordedRun>;
}

interface CheckedFile {
  readonly location: Location;
  readonly faults: Faults;
  readonly context: CaseContext;
}

/** Reports name cases, so no two cases in a file have the same name. */
export function checkNames({ cases }: EvalFile, location: Location, faults: Faults): void {
  for (const [index, { name }] of cases.entries()) {
    if (cases.findIndex((one) => one.name === name) === index) continue;
    faults.add(location, ['cases', index, 'name'], `Two cases are called \`${name}\`; give each a name of its own.`);
  }
}

/** Checks what the schema cannot express. */
export function checkCase(one: EvalCaseFile, path: Path, file: CheckedFile): void {
  const { location, faults, context } = file;
  const add = (below: Path, message: string, part?: 'key') => faults.add(location, [...path, ...below], message, part);
  checkStart(one, context, add);
  checkHistory(one, add);
  checkPatterns(one, add);
  const { agency, models } = context;
  const { judge, calls } = one.expect;
  if (calls === 'same' && one.run === undefined) {
    add(['expect', 'calls'], '`calls` is `same`, but the case has no `run`; list the calls.');
  }
  const problem = judge?.model === undefined ? null : (models?.problem(judge.model) ?? null);
  if (problem !== null) add(['expect', 'judge', 'model'], `\`model\` cannot be used: ${problem}`);
  if (agency !== null) checkNamesIn(one, agency, add);
}

type Add = (below: Path, message: string, part?: 'key') => void;

function checkStart({ name, message, run, history }: EvalCaseFile, { recorded }: CaseContext, add: Add): void {
  if (run === undefined) {
    if (message === undefined)
      add([], `The case \`${name}\` has no \`message\`; write one, or \`run\` for a recorded run.`);
    return;
  }
  if (!recorded.has(run)) {
    add(['run'], `\`${run}\` is not in recorded.jsonl; write it there with \`runwire evals record ${run}\`.`);
  }
  if (message !== undefined) add(['message'], 'A case with `run` has its message from there; remove `message`.', 'key');
  if (history !== undefined) add(['history'], 'A case with `run` has its history from there; remove `history`.', 'key');
}

function checkHistory({ history = [] }: EvalCaseFile, add: Add): void {
  for (const [index, item] of history.entries()) {
    const missing =
      item.role === 'user'
        ? item.content === undefined && '`content`'
        : item.role === 'tool'
          ? (item.callId === undefined || item.output === undefined) && '`callId` and `output`'
          : item.content === undefined && item.calls === undefined && '`content` or `calls`';
    if (missing !== false) add(['history', index], `An item of \`${item.role}\` has ${missing}; add it.`);
  }
}

function checkPatterns({ expect: { text, output } }: EvalCaseFile, add: Add): void {
  if (text?.matches !== undefined) {
    try {
      new RegExp(text.matches, 'u');
    } catch (error) {
      const problem =
        error instanceof Error ? error.message.replace(/^Invalid regular expression: /, '') : String(error);
      add(['expect', 'text', 'matches'], `\`matches\` is not a regular expression (${problem}).`);
    }
  }
  if (output?.schema !== undefined) {
    try {
      validateJsonSchema(output.schema);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      add(['expect', 'output', 'schema'], `\`schema\` is not a JSON Schema: ${problem}.`);
    }
  }
}

function checkNamesIn(one: EvalCaseFile, agency: LoadedAgency, add: Add): void {
  const { agent, tools = {}, expect } = one;
  if (agent !== undefined && !agency.entryPoints.includes(agent)) {
    add(['agent'], unknownName('entry point', agent, agency.entryPoints));
  }
  const agents = [...agency.agents.keys()];
  for (const [index, name] of (expect.agents ?? []).entries()) {
    if (!agency.agents.has(name)) add(['expect', 'agents', index], unknownName('agent', name, agents));
  }
  // The tools that MCP servers have are known only while the servers are connected.
  if (agency.mcp.length > 0) return;
  const known = toolNames(agency);
  const check = (name: string, path: Path, part?: 'key') => {
    if (!known.has(name)) add(path, unknownName('tool', name, [...known]), part);
  };
  for (const name of Object.keys(tools)) check(name, ['tools', name], 'key');
  for (const field of ['asks', 'notCalls'] as const) {
    for (const [index, name] of (expect[field] ?? []).entries()) check(name, ['expect', field, index]);
  }
  if (expect.calls === undefined || expect.calls === 'same') return;
  for (const [index, call] of expect.calls.entries()) {
    if (typeof call === 'string') check(call, ['expect', 'calls', index]);
    else check(call.tool, ['expect', 'calls', index, 'tool']);
  }
}

function toolNames({ agents }: LoadedAgency): ReadonlySet<string> {
  const all = [...agents.values()];
  const ofFlows = all.flatMap(({ flows }) =>
    flows.map(({ kind, to }) => (kind === 'handoff' ? handOffName(to) : 'send_message')),
  );
  return new Set([...all.flatMap(({ tools, builtIn }) => [...tools.map(({ name }) => name), ...builtIn]), ...ofFlows]);
}

function unknownName(kind: string, name: string, known: readonly string[]): string {
  const near = nearestField(name, comparedFields(known));
  const advice = near === null ? `its ${kind}s are ${known.join(', ')}` : `did you mean \`${near}\`?`;
  return `The agency has no ${kind} \`${name}\`; ${advice}${near === null ? '.' : ''}`;
}
