import { findPackageJSON } from 'node:module';
import { join } from 'node:path';
import { importPackage, type LoadedModule } from './agency-modules.ts';
import { type ModuleFailure, moduleFailure, OWN_SENTENCE } from './module-failure.ts';
import type { AgencyProcesses } from './process/agency-processes.ts';

/** The package cannot be used. The message is a sentence for the operator. */
export class PackageRefused extends Error {
  override readonly name = 'PackageRefused';
}

/** True if a module in the folder could import the package. Loads nothing. */
export function isInstalled(folder: string, name: string): boolean {
  try {
    return findPackageJSON(name, join(folder, 'package.json')) !== undefined;
  } catch {
    return false;
  }
}

/** Loads a package from the folder: first in a process of its own, then in this one. Throws `PackageRefused`. */
export async function loadPackage(
  processes: AgencyProcesses,
  folder: string,
  name: string,
): Promise<LoadedModule['exports']> {
  const process = processes.start(name, {});
  const answer = await processes.load(process, { folder, source: { kind: 'package', name } });
  process.end();
  if ('failure' in answer) throw new PackageRefused(toSentence(name, answer.failure));
  try {
    return await importPackage(folder, name);
  } catch (error) {
    throw new PackageRefused(toSentence(name, moduleFailure(error)));
  }
}

export function notInstalled(name: string): string {
  return `The package \`${name}\` is not installed; run \`npm install ${name}\` in the folder of agencies, and start the server again.`;
}

function toSentence(name: string, { code, message }: ModuleFailure): string {
  const [first = ''] = message.split('\n');
  if (code === 'ERR_MODULE_NOT_FOUND' && first.startsWith(`Cannot find package '${name}'`)) return notInstalled(name);
  if (code === OWN_SENTENCE) return `The package \`${name}\` cannot be used. ${message}`;
  return `The package \`${name}\` could not be loaded: ${first.replace(/\.$/, '')}.`;
}
