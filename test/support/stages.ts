import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './eventually.ts';

/** The folders of all commands on this machine, of other tests too. */
function stages(): readonly string[] {
  return readdirSync(tmpdir())
    .filter((name) => name.startsWith('runwire-sandbox-'))
    .flatMap((name) => {
      try {
        return readdirSync(join(tmpdir(), name)).filter((entry) => /^[0-9a-f]{24}$/.test(entry));
      } catch {
        // It was deleted since the listing.
        return [];
      }
    });
}

/** Resolves when the folders that exist now are deleted. */
export async function stagesDeleted(known = stages()): Promise<void> {
  await until(() => !stages().some((name) => known.includes(name)));
}

export const stagesNow = stages;
