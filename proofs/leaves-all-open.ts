import { connect, createServer } from 'node:net';
import { ServerProcess, temporaryFolder } from '@runwire/test-kit';
import { Shortfall } from '@runwire/test-kit/shortfall.ts';
import { conclude } from './conclude.ts';

/** A proof that ends and closes nothing: a load and a server continue. The argument decides whether the proof fails. */
async function prove(): Promise<string> {
  const server = await ServerProcess.start({ dataDir: temporaryFolder() });
  const listener = createServer().listen(0, '127.0.0.1', () => {
    const address = listener.address();
    if (address !== null && typeof address === 'object') connect(address.port, '127.0.0.1');
  });
  setInterval(() => void fetch(server.url).catch(() => {}), 100);
  // This is more than a pipe holds. All of it must be written before the process ends.
  process.stdout.write(`${'.'.repeat(300_000)}\nserver ${server.pid}\n`);
  if (process.argv[2] === 'falls-short') throw new Shortfall('open handles: expected 0, found 3.');
  return 'leaves-all-open servers=1';
}

await conclude(prove, '');
