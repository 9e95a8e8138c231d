import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { AgencyFile } from '@runwire/contract/schemas';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { parse } from 'yaml';
import { checkAgencyShape } from '../packages/server/src/agencies/check-shape.ts';
import { Faults } from '../packages/server/src/agencies/fault.ts';
import { noLocation } from '../packages/server/src/agencies/source-location.ts';
import { cites } from '../requirements/cite.ts';
import { brokenAgencies } from './support/broken-agencies.ts';
import { ONE_AGENCY } from './support/one-agency.ts';

const validate = new Ajv({ strict: false }).compile(AgencyFile);

function accepts(value: unknown): boolean {
  const faults = new Faults();
  const isRight = checkAgencyShape(value, noLocation('agency'), faults);
  assert.equal(isRight, faults.count === 0);
  return isRight;
}

const same = (value: unknown) => assert.equal(accepts(value), validate(value), JSON.stringify(value));

const WHOLE = {
  name: 'Support',
  sharedInstructions: './shared.md',
  model: 'openai/gpt-5-mini',
  fallback: ['offline/demo'],
  entryPoints: ['Triage'],
  defaultAgent: 'Triage',
  contextToModel: false,
  toolFiles: ['./tools.ts'],
  env: { SHOP_URL: 'https://shop.example.com' },
  limits: { steps: 50, depth: 5, handOffs: 10, toolOutputCharacters: 40_000 },
  mcp: {
    github: { url: 'https://mcp.example.com', headers: { Authorization: 'x' }, tools: ['a'], approval: ['a'] },
    docs: {
      command: 'npx',
      args: ['-y'],
      env: { A: 'b' },
      cwd: './files',
      session: 'run',
      prefix: '',
      timeoutSeconds: 5,
    },
    both: {
      url: 'http://x',
      approval: 'always',
      oauth: { clientId: 'a', clientSecret: 'b', scope: 'c', issuer: 'https://d' },
    },
  },
  agents: [
    {
      name: 'Triage',
      description: 'Routes.',
      instructions: 'Help.',
      settings: { temperature: 0.2, topP: 1, maxOutputTokens: 4000, parallelToolCalls: true, toolChoice: 'auto' },
      reasoning: { effort: 'low', summary: 'auto' },
      tools: ['a', 'b'],
      mcp: [],
      approval: ['a'],
      output: { type: 'object' },
      files: { below: 'x' },
      sandbox: false,
      skills: ['charts'],
      starters: ['Hi'],
    },
    './agents/reviewer.md',
  ],
  flows: [
    'A -> B',
    { from: 'A', to: 'B', kind: 'delegate', memory: 'none' },
    { from: 'A', to: 'B', kind: 'handoff', lasts: 'chat' },
  ],
};

const ODD = [null, true, 0, -1, 1.5, 500, '', 'x', './x', 'a/b', 'https://x', [], ['x', 'x'], [1], {}, { x: 1 }];

/** Every value that differs from the whole agency in one place. */
function* changed(value: unknown): Generator<unknown> {
  for (const odd of ODD) yield odd;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) for (const other of changed(item)) yield value.with(index, other);
    yield [...value, ...value];
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      for (const other of changed(inner)) yield { ...value, [key]: other };
      const { [key as keyof typeof value]: _, ...rest } = value;
      yield rest;
      yield { ...value, [`${key}s`]: inner };
    }
  }
}

test('the checker accepts and refuses what the schema does, one change at a time', (t) => {
  cites(t, 'agents-10-schema');
  assert.equal(accepts(WHOLE), true);
  let count = 0;
  for (const value of changed(WHOLE)) {
    same(value);
    count += 1;
  }
  assert.ok(count > 1000);
});

test('the checker accepts and refuses what the schema does, for any fields', () => {
  const names = Object.keys(AgencyFile.properties);
  const any = fc.dictionary(fc.constantFrom(...names, 'other'), fc.jsonValue({ maxDepth: 3 }));
  fc.assert(fc.property(any, (value) => same(value)));
});

test('the schema accepts the sample agencies', () => {
  for (const form of ['yaml', 'markdown'] as const) assert.ok(validate(parse(ONE_AGENCY[form]['agency.yaml'] ?? '')));
});

test('the schema refuses what the checker of shapes reports', () => {
  const unknown = brokenAgencies.filter(({ faults }) =>
    faults.some(({ message }) => message.includes('is not a field of an agency')),
  );
  assert.ok(unknown.length > 3);
  for (const { files } of unknown) assert.equal(validate(parse(files['agency.yaml'] ?? '')), false);
});

test('the committed schema is the schema of the checker', (t) => {
  cites(t, 'agents-10-schema');
  const committed = JSON.parse(readFileSync(new URL('../docs/agency.schema.json', import.meta.url), 'utf8'));
  assert.deepEqual(committed, JSON.parse(JSON.stringify(AgencyFile)));
});
