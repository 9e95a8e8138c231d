import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const LOGGER = JSON.stringify(join(import.meta.dirname, 'logger.ts'));
const LINES = 300;

/** Runs code that has a logger, in a process of its own. Resolves to what it wrote to both outputs. */
function run(code: string): Promise<{ readonly stdout: string; readonly messages: string[] }> {
  const head = `const { createLogger } = await import(${LOGGER}); const logger = createLogger('info');`;
  const logAll = `for (let n = 0; n < ${LINES}; n += 1) logger.info({ n }, 'line');`;
  return new Promise((resolve) => {
    const args = ['-C', 'runwire', '--input-type=module', '-e', `${head} ${logAll} ${code}`];
    execFile(process.execPath, args, (_error, stdout, stderr) => {
      const messages = stderr.split('\n').filter((line) => line.startsWith('{"level"'));
      resolve({ stdout, messages: messages.map((line) => JSON.parse(line).msg) });
    });
  });
}

const ALL = Array<string>(LINES).fill('line');

test('no line is lost, however the process exits', async () => {
  const endings = {
    exit: 'process.exit(3);',
    exception: `setTimeout(() => { throw new Error('uncaught'); }, 1);`,
    rejection: `Promise.reject(new Error('unhandled'));`,
    'a line after the last work': `process.on('exit', () => logger.info({}, 'last'));`,
    'a line during the exit': `process.on('exit', () => logger.info({}, 'last')); process.exit();`,
  };
  await Promise.all(
    Object.entries(endings).map(async ([name, code]) => {
      const { messages } = await run(code);
      assert.deepEqual(messages, name.startsWith('a line') ? [...ALL, 'last'] : ALL, name);
    }),
  );
});

test('lines are written together, and an error immediately with all lines before it', async () => {
  const { stdout, messages } = await run(`
    const fs = (await import('node:fs')).default;
    const written = [];
    const { write } = fs;
    fs.write = (fd, text, ...rest) => { written.push(text.split('\\n').length - 1); return write(fd, text, ...rest); };
    logger.info({}, 'one'); logger.info({}, 'two'); logger.error({}, 'three');
    await new Promise((resolve) => setTimeout(resolve, 300));
    const atError = written.at(-1);
    logger.info({}, 'four'); logger.info({}, 'five');
    await new Promise((resolve) => setTimeout(resolve, 300));
    process.stdout.write(JSON.stringify({ atError, later: written.at(-1) }));`);
  assert.deepEqual(messages, [...ALL, 'one', 'two', 'three', 'four', 'five']);
  const { atError, later } = JSON.parse(stdout);
  assert.ok(atError >= 3);
  assert.equal(later, 2);
});
