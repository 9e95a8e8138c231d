import { rmSync } from 'node:fs';
import type { AgencyDefinition } from '@runwire/agency';
import type { Model } from '../agent/ports.ts';
import type { RunningServer } from '../compose/running-server.ts';
import { ApiClient } from './api-client.ts';
import { startWithOverrides } from './start-with-overrides.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** The first owner's key in every test installation. */
export const TEST_API_KEY = 'test-key-0123456789-0123456789-0123456789';

export interface TestServerOptions {
  /** By name, as an integration selects them. */
  readonly agencies?: Readonly<Record<string, AgencyDefinition>>;
  /** Used by agents without a model, instead of `RUNWIRE_MODEL`. Agents and agencies that name a model use that one. */
  readonly model?: Model;
  /** The data folder, which is kept after the test. By default a temporary folder that is deleted with the server. */
  readonly dataDir?: string;
  /** Settings, as for `runwire serve`. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A server in this process. */
export class TestServer implements AsyncDisposable {
  readonly server: RunningServer;
  readonly api: ApiClient;
  readonly dataDir: string;
  readonly #cleanUp: () => Promise<void> | void;

  constructor(server: RunningServer, dataDir: string, cleanUp: () => Promise<void> | void) {
    this.server = server;
    this.dataDir = dataDir;
    this.api = new ApiClient(server.url, TEST_API_KEY);
    this.#cleanUp = cleanUp;
  }

  get url(): string {
    return this.server.url;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.#cleanUp();
  }
}

/**
 * Starts the real server in this process, on a free port, on the embedded store.
 *
 *   await using controller = await ModelController.start();
 *   await using server = await startTestServer({ agencies: { mine }, model: scriptedModel(controller.port) });
 */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { dataDir = temporaryFolder(), env, ...overrides } = options;
  const settings = {
    PORT: '0',
    RUNWIRE_DATA_DIR: dataDir,
    RUNWIRE_API_KEY: TEST_API_KEY,
    RUNWIRE_LOG_LEVEL: 'silent',
    // Its trial would cost every test a process.
    RUNWIRE_SANDBOX: 'off',
    ...env,
  };
  const server = await startWithOverrides(settings, overrides);
  return new TestServer(server, dataDir, () => {
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
  });
}
