import assert from 'node:assert/strict';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { temporaryFolder } from '@runwire/server/testing';
import { cites } from '../../../../requirements/cite.ts';
import { missingBubblewrap } from '../../../../test/support/services.ts';
import { runCase, sandboxConformance } from '../testing/sandbox-conformance.ts';
import { ExecSandbox } from './exec-sandbox.ts';

/** A program of an operator: bubblewrap as a container engine, with the folders at their places. */
const PROGRAM = `#!/bin/sh
exec env -i PATH="$PATH" bwrap --unshare-all --die-with-parent --as-pid-1 --ro-bind /usr /usr --symlink usr/bin /bin \\
  --symlink usr/lib /lib --symlink usr/lib64 /lib64 --proc /proc --dev /dev --tmpfs /tmp \\
  --bind "$1" /app/mnt \${2:+--ro-bind "$2" /app/agency} \\
  prlimit --nproc="$RUNWIRE_SANDBOX_PROCESSES" bash -c 'bash -c "$(cat)" < /dev/null; exit $?'
`;

const folder = temporaryFolder();
after(() => rmSync(folder, { recursive: true }));

function program(name: string, text: string): ExecSandbox {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return new ExecSandbox(path);
}

sandboxConformance('exec', () => program('engine', PROGRAM), await missingBubblewrap());

test('the program gets folders, limits and the command, and nothing of the server', async (t) => {
  cites(t, 'agents-15-exec');
  const seen = join(folder, 'seen');
  const sandbox = program('show', `#!/bin/sh\n(echo "$#"; ls "$1"; ls "$2"; env | sort; cat) > ${seen}\nexit 3\n`);
  const command = { command: 'echo "a b"', files: { 'u/a.txt': '' }, agencyFiles: { 'b.txt': '' }, workingFolder: 'u' };
  const { end } = await runCase(sandbox, { ...command, limits: { seconds: 7, memoryMib: 300, processes: 9 } });
  assert.deepEqual(end, { end: 'exited', exitCode: 3 });
  const text = readFileSync(seen, 'utf8');
  assert.match(text, /^2\nu\nb\.txt\n/);
  const variables = /^(?:\w+=.*\n)+/m.exec(text)?.[0].replace(/^(PWD|SHLVL|_|OLDPWD|PATH)=.*\n/gm, '');
  assert.equal(
    variables,
    'RUNWIRE_SANDBOX_FILE_MIB=8\nRUNWIRE_SANDBOX_MEMORY_MIB=300\nRUNWIRE_SANDBOX_PROCESSES=9\nRUNWIRE_SANDBOX_SECONDS=7\n',
  );
  assert.ok(text.endsWith('cd -- \'/app/mnt/u\' || exit 126\necho "a b"\n'), text);
});

test('a program that does not read its command is no failure', async () => {
  const { end } = await runCase(program('deaf', '#!/bin/sh\nexit 4\n'), { command: 'x'.repeat(90_000) });
  assert.deepEqual(end, { end: 'exited', exitCode: 4 });
});

test('a process outside the group that keeps the output open ends at the time limit', async () => {
  const pid = join(folder, 'pid');
  const daemon = `setsid sh -c 'echo $$ > ${pid}; exec sleep 600'`;
  // Without the wait, the shell would end and be killed with its group first.
  const sandbox = program('daemon', `#!/bin/sh\n${daemon} &\nwhile [ ! -s ${pid} ]; do sleep 0.1; done\n`);
  const { end } = await runCase(sandbox, { command: 'true', limits: { seconds: 3 } });
  process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL');
  assert.deepEqual(end, { end: 'limit', limit: 'seconds' });
});

test('a missing program is exit code 127', async () => {
  const { end } = await runCase(new ExecSandbox(join(folder, 'none')), { command: 'true' });
  assert.deepEqual(end, { end: 'exited', exitCode: 127 });
});
