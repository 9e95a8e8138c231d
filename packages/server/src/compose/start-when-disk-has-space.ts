import { setTimeout as sleep } from 'node:timers/promises';
import { hasDiskSpace, isDiskFull } from '@runwire/lib/disk-full.ts';
import type { Config } from '../config/config.ts';
import { WaitingListener } from '../http/waiting-listener.ts';
import type { RunningServer } from './running-server.ts';

const RETRY_MS = 1000;

export interface WaitingOptions {
  readonly config: Config;
  /** One whole start. The next start continues what a failed start has done. */
  readonly start: (config: Config) => Promise<RunningServer>;
  /** Called once, when the start begins to wait. `url` is the address that answers that the server is not ready. */
  readonly onWaiting: (url: string) => void;
  /** Resolves when the process has to end. */
  readonly signalled: Promise<void>;
}

/**
 * Starts the server. While the data folder's disk is full, a listener takes its place, so that the process lives and
 * is not ready, and the start is tried again when there is space. Returns null if a signal ends the wait.
 */
export async function startWhenDiskHasSpace(options: WaitingOptions): Promise<RunningServer | null> {
  const { start, onWaiting, signalled } = options;
  let { config } = options;
  let isReported = false;
  for (;;) {
    try {
      return await start(config);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
    }
    await using listener = await WaitingListener.start(config);
    // If the system chose the port, the server must listen on the port that was reported.
    config = { ...config, port: listener.port };
    if (!isReported) onWaiting(listener.url);
    isReported = true;
    do {
      const isSignalled = await Promise.race([sleep(RETRY_MS, false), signalled.then(() => true)]);
      if (isSignalled) return null;
    } while (!hasDiskSpace(config.dataDir));
  }
}
