import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { openSandbox, type SandboxName } from '@runwire/test-kit/sandboxes.ts';
import { count, inGate, plantedFault } from '@runwire/test-kit/scale.ts';
import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import { cites } from '../../../requirements/cite.ts';
import { missingBubblewrap, missingService } from '../../../test/support/services.ts';
import type { Sandbox } from './sandbox.ts';
import type { EverydayCommand } from './testing/everyday-command.ts';
import { EVERYDAY_COMMANDS, EVERYDAY_GROUPS } from './testing/everyday-commands.ts';
import { makeStage, readStage, SANDBOX_TEST_LIMITS } from './testing/sandbox-conformance.ts';

/*
 * Commands that models write every day, in each sandbox. docs/sandbox-commands.md has them as a table. The proof
 * `sandbox-everyday` runs all of them, the gate a few.
 */

const root = join(import.meta.dirname, '../../..');
const PAGE = readFileSync(join(root, 'docs/sandbox-commands.md'), 'utf8');
const LIMITS = { ...SANDBOX_TEST_LIMITS, seconds: 60, processMemoryMib: 2048, memoryMib: 1024 };
const PNG = Buffer.from('89504e470d0a1a0a', 'hex').toString('latin1');
/** The gate runs these: a file, a date, and what just-bash lacks. */
const IN_GATE = ['Make a symbolic link and read through it', 'Add days to a date', 'Clean up with `trap`'];
const chosen = EVERYDAY_COMMANDS.filter(({ task }) => !inGate() || IN_GATE.includes(task));

const toRow = ({ task, programs, missing }: EverydayCommand) =>
  `| ${task} | ${programs.map((name) => `\`${name}\``).join(', ')} | yes | ${missing === undefined ? 'yes' : `no: ${missing}`} |`;

function shownRows(): string[] {
  const rows = PAGE.split('\n').filter((line) => /^\| .* \| (yes|no: .*) \|$/.test(line));
  // As if a row had been forgotten when just-bash changed.
  return plantedFault() === 'stale-table' ? rows.map((row) => row.replace('no: no `trap`', 'yes')) : rows;
}

test('docs/sandbox-commands.md shows every command, and where it works', () => {
  const rows = shownRows();
  for (const [index, command] of EVERYDAY_COMMANDS.entries()) {
    expectEqual(`row of \`${command.task}\``, rows[index], toRow(command));
  }
  expectEqual('rows', rows.length, EVERYDAY_COMMANDS.length);
  assert.deepEqual(
    [...PAGE.matchAll(/^## (.*)$/gm)].map(([, title]) => title).filter((title = '') => title in EVERYDAY_GROUPS),
    Object.keys(EVERYDAY_GROUPS),
  );
});

interface Outcome {
  readonly end: string;
  readonly output: string;
  readonly files: Readonly<Record<string, string>>;
  readonly picture: boolean;
}

async function runEveryday(sandbox: Sandbox, { command, files, picture }: EverydayCommand): Promise<Outcome> {
  const folder = makeStage(sandbox, files);
  if (sandbox.owner !== null) chownSync(folder, sandbox.owner.uid, sandbox.owner.gid);
  const pieces: Uint8Array[] = [];
  try {
    const end = await sandbox.run(
      { command, folder, agencyFolder: null, workingFolder: '', limits: LIMITS },
      (bytes) => pieces.push(bytes),
      new AbortController().signal,
    );
    const path = join(folder, picture ?? '');
    return {
      end: end.end === 'exited' ? `exit code ${end.exitCode}` : JSON.stringify(end),
      output: Buffer.concat(pieces).toString(),
      files: readStage(folder),
      picture: picture !== undefined && existsSync(path) && readFileSync(path, 'latin1').startsWith(PNG),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns what differs from a command that works; null if nothing does. */
function findDifference({ output, after, picture }: EverydayCommand, outcome: Outcome): string | null {
  const shown = `${outcome.end}, ${JSON.stringify(outcome.output.slice(0, 300))}`;
  const isRight = typeof output === 'string' ? outcome.output === output : output?.test(outcome.output) !== false;
  if (!isRight || outcome.end !== 'exit code 0') return shown;
  if (after !== undefined && JSON.stringify(sorted(outcome.files)) !== JSON.stringify(sorted(after))) {
    return `files ${JSON.stringify(outcome.files).slice(0, 300)}`;
  }
  return picture === undefined || outcome.picture ? null : `no picture ${picture}`;
}

const sorted = (files: Readonly<Record<string, string>>) => Object.entries(files).sort();

async function checkAll(name: SandboxName): Promise<void> {
  const sandbox = await openSandbox(name, plantedFault());
  let [works, fails] = [0, 0];
  for (const command of chosen) {
    const outcome = await runEveryday(sandbox, command);
    const difference = findDifference(command, outcome);
    if (name !== 'just-bash' || command.missing === undefined) {
      expectEqual(`${command.task}, in ${name}: what is wrong`, difference, null);
      works += 1;
      continue;
    }
    expectEqual(`${command.task}, in ${name}: whether it works`, difference === null, false);
    expectEqual(`${command.task}, in ${name}: whether it fails aloud`, outcome.end !== 'exit code 0', true);
    fails += 1;
  }
  const key = name.replace('-', '_');
  count({ [`${key}_works`]: works, ...(fails > 0 ? { [`${key}_fails`]: fails } : {}) });
}

const missing = (await missingBubblewrap()) ?? (inGate() ? null : await missingService('commandPrograms'));

test('every command works in bubblewrap', { skip: missing ?? false }, async (t) => {
  cites(t, 'agents-15-everyday');
  await checkAll('bubblewrap');
});

test('every command works in just-bash or fails, as the table shows', async (t) => {
  cites(t, 'agents-15-everyday');
  await checkAll('just-bash');
});

test('the image has the programs of the table', { skip: !existsSync('/usr/bin/dpkg-query') }, (t) => {
  if (missing !== null || inGate()) return t.skip('The proof looks up the packages.');
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const installed = [...dockerfile.matchAll(/--no-install-recommends ([\w .+-]+?) &&/g)].flatMap(([, all = '']) =>
    all.split(' '),
  );
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query replaces these names.
  const format = '${Package} ${Priority}\n';
  const required = new Set(
    lines('-W', '-f', format)
      .filter((line) => line.endsWith(' required'))
      .map((line) => line.split(' ')[0]),
  );
  const names = [...new Set(EVERYDAY_COMMANDS.flatMap(({ programs }) => programs))];
  const owners = new Map(
    lines('-S', ...names.flatMap((name) => [`/usr/bin/${name}`, `/bin/${name}`])).map((line) => {
      const [owner = '', path = ''] = line.split(': ');
      return [basename(path), owner];
    }),
  );
  const isThere = (name: string) => installed.includes(name) || required.has(name);
  // `awk` is a link that several packages make: the base image has `mawk`.
  const absent = names.filter((name) => name !== 'awk' && !isThere(name) && !isThere(owners.get(name) ?? ''));
  expectEqual('programs that the image lacks', absent, []);
});

const lines = (...args: readonly string[]) => spawnSync('dpkg-query', args, { encoding: 'utf8' }).stdout.split('\n');
