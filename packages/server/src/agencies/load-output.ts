import { compileJsonSchema } from '@runwire/lib/json-schema.ts';
import type { AgentDraft } from './agency-draft.ts';
import { type AgencyFolder, besideFile, FileRefused } from './agency-folder.ts';
import { type Faults, FILE_START, positionIn } from './fault.ts';
import type { OutputSchema } from './loaded-agency.ts';
import { prepareSchema } from './prepare-code.ts';
import type { WrittenAt } from './read-text.ts';
import type { RefusedCode } from './refused-code.ts';

/** Loads the schema of an agent's answer: a schema of its code, a file, or an inline JSON Schema. */
export async function loadOutput(
  folder: AgencyFolder | null,
  { code, value: { output: given } }: Pick<AgentDraft, 'code' | 'value'>,
  { location, path }: WrittenAt,
  faults: Faults,
): Promise<OutputSchema | null> {
  const add = (problem: string) => faults.add(location, path, `\`output\` ${problem}`);
  if (code.output !== undefined) return usable(code.output, add);
  if (given === undefined) return null;
  if (typeof given !== 'string') return usable(await prepareSchema(given, compileJsonSchema), add);
  const file = besideFile(location.file, given);
  try {
    const text = folder === null ? '' : await folder.read(file);
    const schema = parseJson(file, text, faults);
    if (schema === undefined) return null;
    return usable(await prepareSchema(schema, compileJsonSchema), (problem) =>
      faults.addAt(file, FILE_START, `The file ${problem}`),
    );
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error;
    faults.add(location, path, error.message);
    return null;
  }
}

function parseJson(file: string, text: string, faults: Faults): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const at = /position (\d+)/.exec(message)?.[1];
    const position = at === undefined ? positionIn(text, text.length) : positionIn(text, Number(at));
    faults.addAt(file, position, `This is not valid JSON: ${message.replace(/ (?:in JSON )?at position.*$/, '')}.`);
    return undefined;
  }
}

function usable(schema: OutputSchema | RefusedCode, add: (problem: string) => void): OutputSchema | null {
  if (!('refused' in schema)) return schema;
  add(schema.refused);
  return null;
}
