import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { cites } from '../../../../requirements/cite.ts';
import { toolName } from './tool-names.ts';

const server = { name: 'docs', prefix: 'docs' };
const bare = { name: 'docs', prefix: '' };
const hash = (tool: string) => createHash('sha256').update(`docs\0${tool}`).digest('hex').slice(0, 8);

test('a usable name is the prefix and the name of the tool', (t) => {
  cites(t, 'agents-13-names');
  assert.equal(toolName(server, 'read-file', new Set()), 'docs_read-file');
  assert.equal(toolName(bare, 'read_file', new Set()), 'read_file');
  assert.equal(toolName(bare, 'x'.repeat(64), new Set()), 'x'.repeat(64));
});

test('a changed, long or taken name ends with a hash of server and tool', (t) => {
  cites(t, 'agents-13-hashed-names');
  const long = 'x'.repeat(60);
  assert.equal(toolName(server, long, new Set()), `docs_${'x'.repeat(50)}_${hash(long)}`);
  assert.equal(toolName(server, 'a.b', new Set()), `docs_a_b_${hash('a.b')}`);
  assert.equal(toolName(server, 'größe😀', new Set()), `docs_gr__e__${hash('größe😀')}`);
  assert.equal(toolName(bare, 'echo', new Set(['echo'])), `echo_${hash('echo')}`);
  assert.equal(toolName(bare, '', new Set()), `_${hash('')}`);
});

test('a tool whose last possible name is taken has no name', () => {
  const taken = new Set(['echo', `echo_${hash('echo')}`]);
  assert.equal(toolName(bare, 'echo', taken), null);
});
