import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { StageFolders } from '@runwire/sandbox';
import { exceedsFolder } from '@runwire/sandbox/src/watch-folder.ts';
import { pathInMount } from '@runwire/test-kit/test-files.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { findFiles } from './stage.ts';

const LIMITS = { folderEntries: 100, folderBytes: 1024 * 1024 };

/** Makes the file, and never finds it locked, as if each process before had died. */
const freeLock = (path: string) => {
  writeFileSync(path, '');
  return { [Symbol.dispose]: () => {} };
};

/** Collects the warnings. */
function logging() {
  const warnings: string[] = [];
  const logger: Logger = {
    ...createLogger('silent'),
    warn: (_fields, message) => void warnings.push(message),
  };
  return { logger, warnings };
}

/** Makes a stage, and lets bash change it as a command would. */
async function stageAfter(command: string, logger = logging().logger) {
  const stages = new StageFolders(null, freeLock, logger);
  const folder = stages.make();
  execFileSync('/bin/bash', ['-c', command], { cwd: folder });
  return { stages, folder };
}

const COUNTED: Readonly<Record<string, string>> = {
  'a folder whose name is not UTF-8': `mkdir -p $'\\xff/\\xfe'; head -c 2000000 /dev/zero > $'\\xff/\\xfe/big'`,
  'many files in a folder whose name is not UTF-8': `mkdir $'\\xff'; touch $'\\xff/'{1..200}`,
  'a folder without rights': 'mkdir d; head -c 2000000 /dev/zero > d/big; chmod 000 d',
  'a folder that may only be listed': 'mkdir d; head -c 2000000 /dev/zero > d/big; chmod 400 d',
};

function tests(): void {
  if (process.getuid?.() === 0) {
    process.setgroups?.([]);
    process.setgid?.(65_531);
    process.setuid?.(65_531);
  }
  const root = mkdtempSync('/tmp/runwire-stages-');
  process.env.TMPDIR = root;
  after(() => {
    execFileSync('/bin/chmod', ['-R', 'u+rwX', root]);
    rmSync(root, { recursive: true });
  });

  for (const [what, command] of Object.entries(COUNTED)) {
    test(`counts ${what}, while the command runs and after it`, async () => {
      const { folder, stages } = await stageAfter(command);
      assert.equal(await exceedsFolder(folder, LIMITS), true);
      assert.equal((await findFiles(folder, pathInMount(''), LIMITS)).isWithinLimits, false);
      await stages[Symbol.asyncDispose]();
    });
  }

  test('a command may take rights away from its own folders', async () => {
    const command = 'mkdir -p a/b c; echo 1 > a/b/one; echo 2 > c/two; chmod 000 a/b c/two; chmod 400 c; chmod 000 a';
    for (const watch of [true, false]) {
      const { folder, stages } = await stageAfter(command);
      if (watch) assert.equal(await exceedsFolder(folder, LIMITS), false);
      const { files, leftOut } = await findFiles(folder, pathInMount(''), LIMITS);
      assert.deepEqual(files.map(({ path }) => path).sort(), ['a/b/one', 'c/two']);
      assert.deepEqual(leftOut, []);
      for (const file of files) await (await file.open()).close();
      await stages[Symbol.asyncDispose]();
    }
  });

  test('entries of a folder whose name is not UTF-8 are left out with it', async () => {
    const { folder, stages } = await stageAfter(`mkdir -p $'\\xff/d'; touch $'\\xff/d/x' $'\\xff/y' z`);
    const { files, leftOut } = await findFiles(folder, pathInMount(''), LIMITS);
    assert.deepEqual(
      files.map(({ path }) => path),
      ['z'],
    );
    assert.deepEqual(leftOut, [{ path: '/app/mnt/\ufffd', reason: 'has a name that is not UTF-8' }]);
    await stages[Symbol.asyncDispose]();
  });

  /** Runs a program in a folder during the work. */
  async function beside<T>(folder: string, program: string, work: () => Promise<T>): Promise<T> {
    const child = spawn('/usr/bin/perl', ['-e', program], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(child.stdout, 'data');
      return await work();
    } finally {
      const ended = once(child, 'close');
      child.kill('SIGKILL');
      await ended;
    }
  }

  const STARTED = '$| = 1; print "started";';
  const RENAMED: Readonly<Record<string, string>> = {
    'a folder': 'mkdir d0; head -c 2000000 /dev/zero > d0/big',
    'a file': 'head -c 2000000 /dev/zero > d0',
  };

  for (const [what, command] of Object.entries(RENAMED)) {
    test(`${what} that is renamed without end hides nothing`, async () => {
      const { folder, stages } = await stageAfter(command);
      const program = `${STARTED} while (1) { rename "d$n", "d" . ($n + 1) or die; $n++ }`;
      const looks = await beside(folder, program.replace('while', '$n = 0; while'), async () => {
        const found: boolean[] = [];
        for (let look = 0; look < 20; look += 1) found.push(await exceedsFolder(folder, LIMITS));
        return found;
      });
      assert.deepEqual([...new Set(looks)], [true]);
      await stages[Symbol.asyncDispose]();
    });
  }

  test('a command that makes, renames and deletes entries is within its limits', async () => {
    const { folder, stages } = await stageAfter('mkdir d; touch {1..40}');
    const program = `${STARTED} while (1) {
    for (1 .. 40) { mkdir "d/$_"; open F, ">", "d/$_/x"; close F; rename $_, "$_.new"; select undef, undef, undef, 0.0005 }
    for (1 .. 40) { unlink "d/$_/x"; rmdir "d/$_"; rename "$_.new", $_ }
  }`;
    await beside(folder, program, async () => {
      for (let look = 0; look < 60; look += 1) {
        assert.equal(await exceedsFolder(folder, { ...LIMITS, folderEntries: 500 }), false, `look ${look}`);
      }
    });
    await stages[Symbol.asyncDispose]();
  });

  test('a link in the place of the folder of a command is not followed', async () => {
    for (const link of ['u', 'u/42']) {
      const { folder, stages } = await stageAfter(`mkdir -p u/42; rm -r ${link}; ln -s /etc ${link}`);
      const { files, leftOut } = await findFiles(folder, pathInMount('u/42'), LIMITS);
      assert.deepEqual(files, []);
      assert.deepEqual(leftOut, [{ path: `/app/mnt/${link}`, reason: 'is not a folder any more' }]);
      await stages[Symbol.asyncDispose]();
    }
  });

  test('hard links and links count once, and are not followed', async () => {
    const { folder, stages } = await stageAfter('head -c 600000 /dev/zero > a; ln a b; ln -s /usr/bin c; ln -s . d');
    assert.equal(await exceedsFolder(folder, LIMITS), false);
    await stages[Symbol.asyncDispose]();
  });

  const LOCKED_UP = `mkdir -p $'\\xff/x/\\xfe/y'; chmod 000 $'\\xff/x/\\xfe'; chmod 000 $'\\xff/x' $'\\xff'`;

  test('deletes folders that their owner cannot enter, whatever their names', async () => {
    const { logger, warnings } = logging();
    const { folder, stages } = await stageAfter(LOCKED_UP, logger);
    await stages.remove(folder);
    assert.equal(existsSync(folder), false);
    await stages[Symbol.asyncDispose]();
    assert.deepEqual(warnings, []);
  });

  test('a start deletes what earlier processes left, and continues if a folder cannot be deleted', async () => {
    const { folder } = await stageAfter(LOCKED_UP);
    const { logger, warnings } = logging();
    assert.equal(await StageFolders.sweep(freeLock, logger), 1);
    assert.equal(existsSync(folder), false);
    assert.deepEqual(warnings, []);

    await stageAfter('true');
    await stageAfter('true');
    // The folder above them does not let its entries go.
    execFileSync('/bin/chmod', ['500', root]);
    assert.equal(await StageFolders.sweep(freeLock, logger), 0);
    assert.equal(warnings.length, 2, 'one for each folder');
  });
}

/** Root may enter every folder, so root runs these tests in a process without its rights. */
const WITHOUT_RIGHTS = 'TEST_WITHOUT_RIGHTS';
if (process.getuid?.() === 0 && process.env[WITHOUT_RIGHTS] === undefined) {
  test('the stages of a server without rights', async () => {
    const env = { ...process.env, [WITHOUT_RIGHTS]: '1', NODE_TEST_CONTEXT: undefined };
    await promisify(execFile)(process.execPath, ['-C', 'runwire', import.meta.filename], { env });
  });
} else tests();
