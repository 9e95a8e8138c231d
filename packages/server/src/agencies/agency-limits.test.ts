import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { agencyProcesses } from '@runwire/test-kit/agency-processes.ts';
import { cites } from '../../../../requirements/cite.ts';
import { AgencyBroken, Faults } from './fault.ts';
import { expandFlows } from './flows.ts';
import { NO_CONDITIONS } from './load-condition.ts';
import { loadFolder } from './load-folder.ts';
import { noLocation } from './source-location.ts';

const ofServer = { steps: 50, depth: 5, handOffs: 10, toolOutputCharacters: 40_000 };

async function load(files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'runwire-limits-'));
  try {
    mkdirSync(join(folder, 'a/agents'), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'a', name), text);
    const models = { problem: () => null, defaultId: 'm', searchesWeb: () => true, fromObject: () => null };
    return await loadFolder(join(folder, 'a'), 'a', {
      models,
      processes: agencyProcesses(),
      limits: ofServer,
      variable: () => null,
      hasSandbox: true,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('the smaller of a limit of the agency and of the server counts', async (t) => {
  cites(t, 'agents-11-smaller-limit');
  const limits = '{ steps: 200, depth: 2, handOffs: 50 }';
  const text = `name: A\nlimits: ${limits}\nagents: [{ name: A, instructions: Help. }]\n`;
  const agency = await load({ 'agency.yaml': text });
  assert.deepEqual(agency.limits, { steps: 50, depth: 2, handOffs: 10, toolOutputCharacters: 40_000 });
});

test('an agency has at most 100 Markdown agents and 1000 flows', async () => {
  const agents = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `agents/${index}.md`,
        `---\nname: A${index}\ndescription: One.\n---\nHelp.\n`,
      ]),
    );
  const flows = (count: number) => `name: A\nflows:\n${'  - "* -> *"\n'.repeat(count)}`;
  const messages = (error: unknown) => {
    assert.ok(error instanceof AgencyBroken, String(error));
    return error.faults.map(({ file, message }) => [file, message]);
  };
  const tooMany = await load({ ...agents(101), 'agency.yaml': flows(1001) }).catch(messages);
  assert.deepEqual(tooMany, [
    ['agency.yaml', '`flows` has 1001 items; write at most 1000.'],
    ['agents', 'The folder has 101 Markdown files; keep at most 100.'],
  ]);
  const largest = await load({ ...agents(100), 'agency.yaml': flows(1000) });
  assert.equal(largest.agents.size, 100);
});

test('a repeated wildcard is expanded once, and flows keep the order in which they were written', (t) => {
  cites(t, 'agents-10-wildcards');
  const agents = Array.from({ length: 100 }, (_, index) => `A${index}`);
  const written = Array.from({ length: 500 }, () => ['* -> *', '* => *']).flat();
  const startedAt = performance.now();
  const flows = expandFlows(
    ['A0 -> A9', ...written, 'A0 => A1'],
    { agents, conditions: NO_CONDITIONS },
    noLocation('agency.yaml'),
    new Faults(),
  );
  // If each of the 1000 wildcards were expanded, this would take 30 s.
  assert.ok(performance.now() - startedAt < 10_000);
  assert.equal([...flows.values()].flat().length, 2 * 99 * 100 - 2);
  const ofFirst = (flows.get('A0') ?? []).map(({ to, kind }) => `${kind} ${to}`);
  assert.deepEqual(ofFirst.slice(0, 3), ['delegate A9', 'delegate A2', 'delegate A3']);
  assert.equal(ofFirst.at(-1), 'handoff A1');
});
