import { Session } from 'node:inspector/promises';

/** The side of a measured server that speaks to the benchmark: what it is told, where it listens, its profile. */

export interface ServerSettings {
  readonly dataDir: string;
  /** Of the floor; ours is always `full`. */
  readonly synchronous: 'full' | 'normal';
  /** Where the scripted provider listens; null: the model is in the server's own process. */
  readonly providerPort: number | null;
  /** Of ours: the PostgreSQL that it stores in; null: the embedded database. */
  readonly databaseUrl: string | null;
}

export interface Announcement {
  readonly port: number;
  /** Null: none is asked for. */
  readonly apiKey: string | null;
}

export type ProfileCommand = 'start-profile' | 'stop-profile';
/** Asks for the memory, with everything collected that is garbage. */
export type MemoryCommand = 'memory';

export interface Memory {
  /** What the process has of the machine; free places in its heap, too. */
  readonly residentBytes: number;
  /** What JavaScript holds, its buffers with it. */
  readonly heldBytes: number;
}

export function readSettings(): ServerSettings {
  return JSON.parse(process.argv[2] ?? '') as ServerSettings;
}

export function announce(announcement: Announcement): void {
  process.send?.(announcement);
  // Whoever started this process is gone: so is the reason for it.
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
      const { rss, heapUsed, external } = process.memoryUsage();
      process.send?.({ residentBytes: rss, heldBytes: heapUsed + external } satisfies Memory);
    } else {
      process.send?.(await session.post('Profiler.stop'));
    }
  });
}
