import type { AgencyDraft, AgentCode } from './agency-draft.ts';
import { besideFile, FileRefused } from './agency-folder.ts';
import { expandVariables, type ReadVariable } from './expand-variables.ts';
import type { Faults } from './fault.ts';
import { type CodeLocation, loadCode } from './load-code.ts';
import { type ConditionParts, NO_CONDITIONS } from './load-condition.ts';
import { type GuardrailParts, NO_GUARDRAILS } from './load-guardrail.ts';
import type { AgencyCode } from './process/agency-code.ts';
import { remoteCondition, remoteGuardrail, remoteTool } from './process/remote-code.ts';

export interface FileTools {
  /** Null if the agency has no code. */
  readonly code: AgencyCode | null;
  /** By their names. */
  readonly tools: AgentCode['tools'];
  readonly guardrails: GuardrailParts;
  readonly conditions: ConditionParts;
}

/**
 * Loads the modules that `toolFiles` lists. Their named exports are tools, by `name` or by the name of the export,
 * guardrails by `name`, and functions that flows can name.
 */
export async function loadToolFiles(
  { value, location }: AgencyDraft,
  codeLocation: Omit<CodeLocation, 'env'>,
  variable: ReadVariable,
  faults: Faults,
): Promise<FileTools> {
  const { folder } = codeLocation;
  const tools = new Map<string, ReturnType<typeof remoteTool>>();
  const files: string[] = [];
  for (const [index, written] of (value.toolFiles ?? []).entries()) {
    const path = ['toolFiles', index];
    const file = besideFile(location.file, written);
    if (!file.endsWith('.ts')) {
      faults.add(
        location,
        path,
        `\`${written}\` is not a TypeScript file; write the path of a file that ends in \`.ts\`.`,
      );
      continue;
    }
    try {
      await folder.read(file);
      files.push(file);
    } catch (error) {
      if (!(error instanceof FileRefused)) throw error;
      faults.add(location, path, error.message);
    }
  }
  if (value.env !== undefined && value.toolFiles === undefined) {
    faults.add(
      location,
      ['env'],
      '`env` is for the code in `toolFiles`, which the agency does not have; remove it.',
      'key',
    );
  }
  const env = expandEnv({ value, location }, variable, faults);
  if (files.length === 0 || faults.count > 0)
    return { code: null, tools, guardrails: NO_GUARDRAILS, conditions: NO_CONDITIONS };
  const { code, answer } = await loadCode({ ...codeLocation, env }, { kind: 'tools', files }, faults);
  const guardrails = new Map<string, ReturnType<typeof remoteGuardrail>>();
  const conditions = new Map<string, ReturnType<typeof remoteCondition>>();
  for (const [index, exports] of answer.exports.entries()) {
    for (const [name, described] of exports.guardrails) {
      if (guardrails.has(name)) {
        const sentence = `\`${files[index]}\` exports a second guardrail \`${name}\`; rename one of them.`;
        faults.add(location, ['toolFiles', index], sentence);
      }
      guardrails.set(name, remoteGuardrail(code, described));
    }
    for (const [name, described] of exports.functions) conditions.set(name, remoteCondition(code, described));
    for (const [name, described] of exports.tools) {
      const isFunction = 'refused' in described && described.isFunction === true;
      const known = tools.get(name);
      if (isFunction && known !== undefined) continue;
      if (known !== undefined && !('refused' in known && known.isFunction === true)) {
        faults.add(
          location,
          ['toolFiles', index],
          `\`${files[index]}\` exports a second tool \`${name}\`; rename one of them.`,
        );
      }
      tools.set(name, remoteTool(code, described));
    }
  }
  return { code, tools, guardrails, conditions };
}

/** The variables that the agency passes on to its code. */
function expandEnv(
  { value, location }: Pick<AgencyDraft, 'value' | 'location'>,
  variable: ReadVariable,
  faults: Faults,
): Readonly<Record<string, string>> {
  const env: Record<string, string> = {};
  for (const [name, written] of Object.entries(value.env ?? {})) {
    const report = (problem: string) => faults.add(location, ['env', name], problem);
    const text = expandVariables(written, variable, report);
    if (text !== undefined) env[name] = text;
  }
  return env;
}
