import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { temporaryFolder } from '@runwire/server/testing';
import { missingBubblewrap } from '../../../../test/support/services.ts';
import {
  checkCase,
  makeStage,
  runCase,
  SANDBOX_CASES,
  SANDBOX_TEST_LIMITS,
  type SandboxCase,
  sandboxConformance,
} from '../testing/sandbox-conformance.ts';
import { trySandbox } from '../try-sandbox.ts';
import { BubblewrapSandbox } from './bubblewrap-sandbox.ts';

const missing = await missingBubblewrap();
/** A descriptor that bubblewrap does not get itself. */
const INHERITED = 20;
const MIB = 1024 * 1024;
const isRoot = process.getuid?.() === 0;

sandboxConformance('bubblewrap', () => new BubblewrapSandbox({ proc: true }), missing);

/** What bubblewrap promises beyond the port. */
const CASES: readonly SandboxCase[] = [
  {
    claim: 'no other folder exists',
    command: 'ls -A / /app /app/mnt /home /root /opt /var 2>/dev/null | tr "\\n" " "',
    files: { 'u/x.txt': '', 'secret.txt': '' },
    workingFolder: 'u',
    end: 0,
    output: /^\/: app bin dev etc lib .*proc sbin tmp usr {2}\/app: mnt {2}\/app\/mnt: u $/,
  },
  { claim: 'nothing but the folder and /tmp is writable', end: 0, ...writableFolders() },
  { claim: 'no descriptor above 2 is open', command: 'ls /proc/self/fd | tr "\\n" " "', end: 0, output: '0 1 2 3 ' },
  {
    claim: 'process 1 shows nothing of the server',
    command: 'tr "\\0" "\\n" < /proc/1/environ; tr "\\0" "\\n" < /proc/1/cmdline',
    end: 0,
    absent: /NODE|npm|runwire-test|bwrap|PLANTED/,
  },
  {
    claim: 'no capabilities, no new privileges, a filter',
    command: 'grep -E "^(CapEff|CapPrm|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status | tr -d "\\t\\n"',
    end: 0,
    output: 'CapPrm:0000000000000000CapEff:0000000000000000CapBnd:0000000000000000NoNewPrivs:1Seccomp:2',
  },
  { claim: 'no nested namespaces', command: 'unshare -Ur id', end: 1, output: /not permitted/ },
  { claim: 'only its own processes exist', command: 'ls -d /proc/[0-9]* | wc -l', end: 0, output: /^[2-4]\n$/ },
  { claim: 'kill -1 reaches only its own processes', command: 'kill -9 -1; echo alive', end: 0, output: /alive/ },
  {
    claim: 'the network has only loopback',
    command: 'tail -n +3 /proc/net/dev | cut -d: -f1',
    end: 0,
    output: /^\s*lo\n$/,
  },
  { claim: '/tmp has 64 MiB', command: 'df -k --output=size /tmp /dev/shm', end: 0, output: /\s65536\n\s*16384\n$/ },
  {
    claim: 'a full /tmp is an error',
    command: 'for i in $(seq 9); do head -c 8000000 /dev/zero > /tmp/$i; done',
    end: 1,
    output: /No space left/,
  },
  { claim: 'the server gets the processor first', command: 'nice', end: 0, output: `${getPriority() + 10}\n` },
  { claim: 'the user has a name', command: 'whoami; id -u', end: 0, output: 'sandbox\n65530\n' },
  {
    claim: 'programs can open /dev/stderr',
    command: 'echo a > /dev/stderr; echo b > /dev/stdout',
    end: 0,
    output: 'a\nb\n',
  },
];

function writableFolders() {
  const folders = '/ /app /app/agency /dev /etc /proc /usr /usr/bin /usr/lib /bin';
  const command = `for f in ${folders}; do touch $f/x 2>/dev/null && echo $f; done; touch /tmp/x /dev/shm/x ./x`;
  return { command, output: '', agencyFiles: { a: '' } };
}

for (const expected of CASES) {
  test(`bubblewrap: ${expected.claim}`, { skip: missing ?? false }, async () => {
    await checkCase(new BubblewrapSandbox({ proc: true }), expected);
  });
}

// The memory of all processes is found in another way then. The rest of the suite does not depend on it.
for (const expected of SANDBOX_CASES.filter(({ limits }) => limits?.memoryMib !== undefined)) {
  test(`bubblewrap without /proc: ${expected.claim}`, { skip: missing ?? false }, async () => {
    await checkCase(new BubblewrapSandbox({ proc: false }), expected);
  });
}

test('works without /proc', { skip: missing ?? false }, async () => {
  const sandbox = new BubblewrapSandbox({ proc: false });
  assert.equal(await trySandbox(sandbox), null);
  const { output } = await runCase(sandbox, {
    command: 'ls -A /proc; touch /proc/x; for i in 3 4 5 6 7 8; do (: >&$i) && echo $i; done; true',
  });
  assert.doesNotMatch(output, /^\d$/m);
  // The name of the process looks like the end of the name and a parent.
  const memory = `cp /usr/bin/perl 'x) S 1 1'; ./'x) S 1 1' -e '$n = 90 << 20; $x = "x" x $n; sleep 20'`;
  const limits = { memoryMib: 60 };
  assert.deepEqual((await runCase(sandbox, { command: memory, limits })).end, { end: 'limit', limit: 'memory' });
});

test('a failure of bubblewrap is its sentence, without a hang', { skip: missing ?? false }, async () => {
  const filter = Buffer.from('no filter');
  const reason = await trySandbox(new BubblewrapSandbox({ proc: true, filter }));
  assert.match(reason ?? '', /seccomp/i);
});

/** Memory of the kernel, which no process shows as its own. */
const KERNEL_MEMORY: Readonly<Record<string, string>> = {
  'sockets with full buffers': `perl -e '
    use Socket; use Fcntl;
    for (1 .. 400) {
      socketpair my $one, my $two, PF_UNIX, SOCK_STREAM, 0 or last;
      fcntl $one, F_SETFL, O_NONBLOCK;
      1 while syswrite $one, "x" x 65536;
      push @all, $one, $two;
    }
    sleep 20'`,
  'empty files in /tmp': `perl -e 'for (1 .. 40_000) { open F, ">", "/tmp/$_" or exit } sleep 20'`,
};

for (const [name, command] of Object.entries(KERNEL_MEMORY)) {
  test(`bubblewrap: ${name} count as memory`, { skip: missing ?? false }, async () => {
    const { end, output } = await runCase(new BubblewrapSandbox({ proc: true }), {
      command,
      limits: { memoryMib: 64 },
    });
    assert.deepEqual(end, { end: 'limit', limit: 'memory' }, output);
  });
}

/** Runs this file's cases in another process: as another user, or with a descriptor that it inherits. */
async function inProcess(
  command: string,
  options: { uid?: number; gid?: number; inherited?: number },
): Promise<string> {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  const script = join(folder, 'run.ts');
  const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const kit = new URL('../testing/sandbox-conformance.ts', import.meta.url).href;
  writeFileSync(
    script,
    `import { BubblewrapSandbox } from ${url('./bubblewrap-sandbox.ts')};
    import { runCase } from ${JSON.stringify(kit)};
    const { end, output } = await runCase(new BubblewrapSandbox({ proc: true }), { command: ${JSON.stringify(command)} });
    console.log(JSON.stringify(end), output);`,
  );
  chmodSync(script, 0o644);
  const { inherited, ...user } = options;
  const more = Array.from({ length: INHERITED - 3 }, () => 'ignore' as const);
  const child = spawn(process.execPath, ['-C', 'runwire', script], {
    stdio: ['ignore', 'pipe', 'inherit', ...more, inherited ?? 'ignore'],
    env: { PLANTED: 'secret' },
    ...user,
  });
  try {
    return await text(child.stdout as NonNullable<typeof child.stdout>);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('a descriptor that the server inherited is closed', { skip: missing ?? false }, async () => {
  const inherited = openSync('/etc/hostname', 'r');
  try {
    const output = await inProcess(`ls -l /proc/[0-9]*/fd; cat <&${INHERITED}`, { inherited });
    assert.match(output, /Bad file descriptor/);
    assert.doesNotMatch(output, /hostname/);
    assert.ok(!output.includes(readFileSync('/etc/hostname', 'utf8').trim() || 'unset'), output);
  } finally {
    closeSync(inherited);
  }
});

const notRoot = isRoot ? missing : 'only root can become another user';
test('works as an unprivileged user', { skip: notRoot ?? false }, async () => {
  const command =
    'id -u; cat /proc/1/environ; echo x > x && cat x; unshare -Ur id; for i in $(seq 200); do sleep 9 & done';
  const output = await inProcess(command, { uid: 65_531, gid: 65_531 });
  assert.match(output, /^\{"end":"exited","exitCode":254\} 65530\n[\s\S]*x\n[\s\S]*not permitted[\s\S]*fork: /);
  assert.doesNotMatch(output, /PLANTED/);
  const memory = 'for i in 1 2 3 4; do (x=$(head -c 90000000 /dev/zero | tr "\\0" x); sleep 20) & done; wait';
  assert.equal((await inProcess(memory, { uid: 65_531, gid: 65_531 })).trim(), '{"end":"limit","limit":"memory"}');
});

test('ends a command that leaves too little of the disk free', { skip: notRoot ?? false }, async () => {
  const sandbox = new BubblewrapSandbox({ proc: true });
  const folder = makeStage(sandbox);
  const { uid, gid } = sandbox.owner ?? { uid: 0, gid: 0 };
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=20m,mode=0700,uid=${uid},gid=${gid}`, 'runwire-test', folder]);
  try {
    // The limits of the folder allow more than the disk has.
    const limits = { ...SANDBOX_TEST_LIMITS, fileBytes: 64 * MIB, folderBytes: 64 * MIB };
    const fill = (bytes: number, seconds: number) =>
      sandbox.run(
        {
          command: `head -c ${bytes} /dev/zero > f; sleep ${seconds}`,
          ...{ folder, agencyFolder: null, workingFolder: '', limits },
        },
        () => {},
        new AbortController().signal,
      );
    assert.deepEqual(await fill(18 * MIB, 0.5), { end: 'exited', exitCode: 0 });
    // Less than 5 % of it are left.
    assert.deepEqual(await fill(19.5 * MIB, 20), { end: 'limit', limit: 'disk' });
  } finally {
    execFileSync('umount', [folder]);
    rmSync(folder, { recursive: true });
  }
});
