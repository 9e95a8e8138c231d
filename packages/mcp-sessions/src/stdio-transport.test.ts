import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StdioTransport } from './stdio-transport.ts';

const MIB = 1024 * 1024;
const PATH = process.env.PATH ?? '';

function shell(script: string) {
  const transport = new StdioTransport({ command: 'sh', args: ['-c', script], env: { PATH }, cwd: null });
  const closed = Promise.withResolvers<void>();
  transport.onclose = () => closed.resolve();
  return { transport, closed: closed.promise };
}

test('a program that writes a message without end is ended', async () => {
  const { transport, closed } = shell('cat /dev/zero');
  await transport.start();
  await closed;
  assert.equal(transport.report, 'the program wrote a message that is too long');
});

test('a program that does not read its input is ended', async () => {
  const { transport, closed } = shell('sleep 600');
  await transport.start();
  const text = 'x'.repeat(MIB);
  for (let sent = 0; sent < 70; sent += 1) {
    await transport.send({ jsonrpc: '2.0', method: 'x', params: { text } }).catch(() => {});
  }
  await closed;
  assert.equal(transport.report, 'the program does not read its input');
});

test('an error in the receiver of a message does not end the process', async () => {
  const { transport, closed } = shell('echo \'{"jsonrpc":"2.0","method":"x"}\'');
  const errors: string[] = [];
  transport.onerror = ({ message }) => errors.push(message);
  transport.onmessage = () => {
    throw new Error('Not expected.');
  };
  await transport.start();
  await closed;
  assert.deepEqual(errors, ['Not expected.']);
});
