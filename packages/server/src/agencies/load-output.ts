import { type AgencyFolder, besideFile, FileRefused } from './agency-folder.ts';
import { type Faults, FILE_START, positionIn } from './fault.ts';
import type { OutputSchema } from './loaded-agency.ts';
import type { WrittenAt } from './read-text.ts';
import { readSchema, SchemaRefused } from './tool-schema.ts';

/** Loads the schema of an agent's answer: a file, an inline JSON Schema, or a schema of a library. */
export async function loadOutput(
  folder: AgencyFolder | null,
  given: unknown,
  { place, path }: WrittenAt,
  faults: Faults,
): Promise<OutputSchema | null> {
  if (given === undefined) return null;
  if (typeof given !== 'string') {
    return await schemaOf(given, (problem) => faults.add(place, path, `\`output\` ${problem}`));
  }
  const file = besideFile(place.file, given);
  try {
    const text = folder === null ? '' : await folder.read(file);
    const schema = parseJson(file, text, faults);
    return schema === undefined
      ? null
      : await schemaOf(schema, (problem) => faults.addAt(file, FILE_START, `The file ${problem}`));
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error;
    faults.add(place, path, error.message);
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

async function schemaOf(given: unknown, add: (problem: string) => void): Promise<OutputSchema | null> {
  try {
    return await readSchema(given);
  } catch (error) {
    if (!(error instanceof SchemaRefused)) throw error;
    // The first problem is enough: the others often follow from it.
    add(`${error.message.replace('schema is invalid: ', '').split(', ')[0]?.replace(/\.$/, '')}.`);
    return null;
  }
}
