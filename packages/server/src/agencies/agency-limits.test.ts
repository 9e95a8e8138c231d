import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadFolder } from './load-folder.ts';

test('the smaller of a limit of the agency and of the server counts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'runwire-limits-'));
  try {
    mkdirSync(join(folder, 'a'));
    const limits = '{ steps: 200, depth: 2, handOffs: 50 }';
    const text = `name: A\nlimits: ${limits}\nagents: [{ name: A, instructions: Help. }]\n`;
    writeFileSync(join(folder, 'a/agency.yaml'), text);
    const models = { problem: () => null, defaultId: 'm', searchesWeb: () => true, fromObject: () => null };
    const ofServer = { steps: 50, depth: 5, handOffs: 10, toolOutputCharacters: 40_000 };
    const agency = await loadFolder(join(folder, 'a'), 'a', { models, limits: ofServer });
    assert.deepEqual(agency.limits, { steps: 50, depth: 2, handOffs: 10, toolOutputCharacters: 40_000 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
