import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgencyFolder } from './agency-folder.ts';
import { AgencyBroken, type Faults } from './fault.ts';
import { moduleFault } from './module-fault.ts';
import { AgencyCode } from './process/agency-code.ts';
import type { AgencyProcesses } from './process/agency-processes.ts';
import type { CodeSource, LoadAnswer } from './process/messages.ts';

export interface LoadedCode {
  readonly code: AgencyCode;
  readonly answer: Exclude<LoadAnswer, { failure: unknown }>;
}

/** The agency whose code is loaded, and what it runs in. */
export interface CodeLocation {
  readonly processes: AgencyProcesses;
  readonly agency: string;
  readonly folder: AgencyFolder;
  /** `env` of the agency. */
  readonly env: Readonly<Record<string, string>>;
  readonly onChanged: () => void;
}

/**
 * Loads an agency's code in a process of its own. Throws `AgencyBroken` if it cannot be loaded. Everything that it
 * loads from the folder becomes part of the agency's version.
 */
export async function loadCode(location: CodeLocation, source: CodeSource, faults: Faults): Promise<LoadedCode> {
  const { processes, agency, folder, env, onChanged } = location;
  const load = { folder: folder.path, source };
  const process = processes.start(agency, env);
  try {
    const answer = await processes.load(process, load);
    if ('failure' in answer) {
      const { file, position, message } = await moduleFault(folder, listFiles(source), answer.failure);
      faults.addAt(file, position, message);
      faults.throwIfAny();
      throw new Error(message);
    }
    if (answer.faults.length > 0) throw new AgencyBroken(answer.faults);
    for (const file of answer.files) await folder.read(file);
    const loaded = await fingerprint(folder.path, answer);
    const isSameCode = async (now: LoadAnswer) => (await fingerprint(folder.path, now)) === loaded;
    return { code: new AgencyCode(processes, process, { agency, env, load, isSameCode, onChanged }), answer };
  } catch (error) {
    process.end();
    throw error;
  }
}

function listFiles(source: CodeSource): readonly string[] {
  if (source.kind === 'tools') return source.files;
  return source.kind === 'agency' ? [source.file] : [];
}

async function fingerprint(folder: string, answer: LoadAnswer): Promise<string> {
  if ('failure' in answer) return '';
  const hash = createHash('sha256');
  for (const file of answer.files.toSorted()) {
    const bytes = await readFile(join(folder, file)).catch(() => Buffer.alloc(0));
    hash.update(`${file}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
}
