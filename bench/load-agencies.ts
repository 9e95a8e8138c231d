import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkAgencies } from '../packages/server/src/commands/check-agencies.ts';

/* Loads 100 YAML agencies of 5 agents in a new process, with a start's code, and prints the milliseconds. */

const AGENCIES = 100;

const agent = (number: number) => `  - name: Agent ${number}
    description: Does part ${number}.
    instructions: |
${'      You help with many things, for {{user_context.plan}}.\n'.repeat(40)}    settings: { temperature: 0.2 }
    output: { type: object, properties: { done: { type: boolean } }, required: [done] }
`;

const folder = mkdtempSync(join(tmpdir(), 'runwire-bench-agencies-'));
try {
  for (let index = 1; index <= AGENCIES; index += 1) {
    const own = join(folder, `agency-${index}`);
    mkdirSync(own);
    const agents = [1, 2, 3, 4, 5].map(agent).join('');
    writeFileSync(join(own, 'agency.yaml'), `name: Agency ${index}\nagents:\n${agents}flows: ["* -> *"]\n`);
  }
  const startedAt = performance.now();
  const { text, isWhole } = await checkAgencies({ RUNWIRE_DATA_DIR: folder }, folder);
  const ms = performance.now() - startedAt;
  if (!isWhole || text.split('\n').length !== AGENCIES) throw new Error(`Not all agencies were loaded:\n${text}`);
  process.stdout.write(`${Math.round(ms)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
