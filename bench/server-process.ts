import { Session } from 'node:inspector/promises';

/** The part of a measured server that talks to the benchmark: its settings, its port, its profile. */

export interface ServerSettings {
  readonly dataDir: string;
  /** For the floor: it stores the admission of a run too. */
  readonly isDurable: boolean;
  /** The scripted provider's port. Null if the model runs in the server's own process. */
  readonly providerPort: number | null;
  /** For our server: the protocol by which it asks the provider. The floor always uses Responses. */
  readonly protocol: 'responses' | 'messages';
  /** For our server: how often it adds words to the index for searches. Null for its default. */
  readonly searchMs: number | null;
  /** For our server: the PostgreSQL to use. Null for the embedded database. */
  readonly databaseUrl: string | null;
  /** For our server: the port of the receiver of its webhooks. Null if it has no endpoint. */
  readonly webhookPort: number | null;
  /** For our server: the port to which it exports traces. Null if traces are off. */
  readonly collectorPort: number | null;
}

export interface Announcement {
  readonly port: number;
  /** Null if the server needs no key. */
  readonly apiKey: string | null;
}

export type ProfileCommand = 'start-profile' | 'stop-profile';
/** Requests the memory after a garbage collection. */
export type MemoryCommand = 'memory';

export interface Memory {
  /** The memory that JavaScript uses, including buffers. */
  readonly heldBytes: number;
}

export function readSettings(): ServerSettings {
  return JSON.parse(process.argv[2] ?? '') as ServerSettings;
}

export function announce(announcement: Announcement): void {
  process.send?.(announcement);
  // The parent process has ended, so this process ends too.
  process.on('disconnect', () => process.exit());
  const session = new Session();
  process.on('message', async (command: ProfileCommand | MemoryCommand) => {
    if (command === 'start-profile') {
      session.connect();
      await session.post('Profiler.enable');
      await session.post('Profiler.setSamplingInterval', { interval: 1000 });
      await session.post('Profiler.start');
      process.send?.({ started: true });
    } else if (command === 'memory') {
      for (let i = 0; i < 4; i += 1) await globalThis.gc?.({ execution: 'async', type: 'major' });
      const { heapUsed, external } = process.memoryUsage();
      process.send?.({ heldBytes: heapUsed + external } satisfies Memory);
    } else if (command === 'stop-profile') {
      process.send?.(await session.post('Profiler.stop'));
    }
  });
}
