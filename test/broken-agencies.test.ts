import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { agencyProcesses } from '@runwire/test-kit/agency-processes.ts';
import { AgencyBroken } from '../packages/server/src/agencies/fault.ts';
import { loadFolder } from '../packages/server/src/agencies/load-folder.ts';
import { NO_PROVIDERS } from '../packages/server/src/agencies/read-providers.ts';
import { modelProblem, providerTable } from '../packages/server/src/compose/provider-table.ts';
import { cites } from '../requirements/cite.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { brokenAgencies, writeBroken } from './support/broken-agencies.ts';

const table = providerTable({
  providers: [],
  providerKeys: new Map(),
  variable: () => null,
  file: NO_PROVIDERS,
  isInstalled: () => false,
});
const setting = {
  models: {
    problem: (id: string) => modelProblem(table, id),
    defaultId: 'offline/demo',
    searchesWeb: () => false,
    fromObject: () => null,
  },
  limits: { steps: 50, depth: 5, handOffs: 10, toolOutputCharacters: 40_000 },
  variable: () => null,
  hasSandbox: false,
  processes: agencyProcesses(),
};

for (const broken of brokenAgencies) {
  test(`reports ${broken.name}`, async (t) => {
    cites(t, 'agents-10-faults', 'contract-31-fields');
    if (broken.name.includes('isEnabled')) cites(t, 'agents-34-enabled-faults');
    if (broken.name.includes('guardrail')) cites(t, 'agents-32-faults');
    if (broken.name === 'variables in TypeScript') cites(t, 'agents-29-env-typescript');
    using folder = new AgenciesFolder();
    writeBroken(folder, 'support', broken);
    await assert.rejects(loadFolder(join(folder.path, 'support'), 'support', setting), (error) => {
      assert.ok(error instanceof AgencyBroken, String(error instanceof Error ? error.stack : error));
      assert.deepEqual(error.faults, broken.faults);
      return true;
    });
  });
}
