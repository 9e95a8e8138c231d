import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { errors } from '@runwire/contract';
import { operations } from '@runwire/contract/schemas';
import { commandWords, getLeaves } from '../packages/cli/src/command.ts';
import { buildProgram } from '../packages/cli/src/program.ts';
import { inCommandWords } from '../packages/cli/src/refusal-words.ts';
import { RESOURCES } from '../packages/client/src/resources.ts';
import { root } from './support/cli-process.ts';

/* The command line and the API: each operation has a command, and refusals use the words of commands. */

/** What the methods of the client that have no resource call. */
const OTHER_CALLS: Readonly<Record<string, string>> = {
  run: 'POST /get_completion_v2',
  rerun: 'POST /v2/integrations/:apiIntegrationId/runs/:runId/rerun',
  evaluate: 'POST /v2/integrations/:apiIntegrationId/evals/run',
  attach: 'GET /v2/integrations/:apiIntegrationId/runs/:runId/events',
  upload: 'POST /create_agency_upload',
};

test('every operation that needs a key has a command', () => {
  const sources = globSync('packages/cli/src/**/*.ts', { cwd: root, exclude: (path) => path.endsWith('.test.ts') });
  const called = sources.flatMap((path) => {
    const calls = readFileSync(join(root, path), 'utf8').matchAll(/(?:\bclient|\))\.(\w+)(?:\.(\w+))?\(/g);
    return [...calls].map(([, name = '', verb = '']) => {
      const verbs: Readonly<Record<string, string>> = RESOURCES[name as keyof typeof RESOURCES] ?? {};
      return verb === '' ? OTHER_CALLS[name] : verbs[verb];
    });
  });
  const missing = Object.values(operations)
    .filter(({ auth, method, path }) => auth && !called.includes(`${method} ${path}`))
    .map(({ operationId }) => operationId);
  assert.deepEqual(missing, []);
});

const leaves = new Map(getLeaves(buildProgram({}, '')).map((leaf) => [commandWords(leaf).join(' '), leaf]));

test('no refusal of the error table names a path or a field of the API', () => {
  for (const name of ['run', 'chat', 'members show', 'integrations update']) {
    const command = leaves.get(name);
    assert.ok(command !== undefined);
    for (const [code, { sentence: message }] of Object.entries(errors)) {
      const text = inCommandWords({ message, code }, command).replaceAll(/--set \w+/g, '');
      // Codes of signing in are for people in a browser.
      if (!/sign_in|media_type/.test(code))
        assert.doesNotMatch(text, /[a-z][A-Z]|\/v2|[a-z]_[a-z]|`[A-Z]\w+[-:]/, text);
    }
  }
});

test('a field is the option or the argument of the command, a word, or a setting', () => {
  const words = (name: string, message: string, code = 'invalid_request', body = {}) =>
    inCommandWords({ message, code, body }, leaves.get(name));
  const late = '`expiresInSeconds` must be <= 3600.';
  assert.equal(words('tokens create', late), '--expires must be <= 3600.');
  assert.equal(words('members set', '`consumerId` is missing from the path.'), 'MEMBER is missing.');
  assert.equal(words('run', '`sandboxFiles[0].path` must start with /app/mnt.'), '--file must start with /app/mnt.');
  assert.equal(words('integrations update', '`model` cannot be used.'), '--set model cannot be used.');
  const foreign = 'Status 404, but not of Runwire; check `baseUrl` and proxies: gone';
  assert.match(words('runs', foreign, 'unexpected_answer'), /; check --url and proxies: gone$/);
  assert.equal(words('runs', '`other` is odd.'), '`other` is odd.');
  assert.equal(
    words('members delete', errors.member_not_found.sentence, 'member_not_found'),
    'No member has this member id; `runwire members list` lists the members.',
  );
  assert.equal(
    words('run', errors.run_active.sentence, 'run_active', { runId: 'run_1' }),
    'The previous run of this chat is still active; wait for it, or cancel it with `runwire cancel run_1`.',
  );
});
