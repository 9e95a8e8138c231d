import { type ApiClient, freshDatabase, type ServerProcess, stopOwnPostgres } from '@runwire/server/testing';
import { DataFolder } from './data-folder.ts';
import { startServer } from './start-server.ts';

export interface NodesOptions {
  readonly nodes: number;
  readonly fault: string | null;
  readonly controllerPort: number;
  /** No node hears the hints of another. */
  readonly dropHints: boolean;
}

/** Servers in processes of their own, on one PostgreSQL and one data folder. */
export class NodeProcesses implements AsyncDisposable {
  readonly databaseUrl: string;
  readonly servers: readonly ServerProcess[];
  readonly #owned: AsyncDisposableStack;

  private constructor(databaseUrl: string, servers: readonly ServerProcess[], owned: AsyncDisposableStack) {
    this.databaseUrl = databaseUrl;
    this.servers = servers;
    this.#owned = owned;
  }

  static async start({ nodes, fault, controllerPort, dropHints }: NodesOptions): Promise<NodeProcesses> {
    await using owned = new AsyncDisposableStack();
    const folder = owned.use(new DataFolder());
    owned.defer(() => stopOwnPostgres());
    const { url } = owned.use(await freshDatabase());
    const options = { dataDir: folder.path, controllerPort, dropHints, env: { DATABASE_URL: url } };
    // All at once: the first start is safe with several.
    const starts = Array.from({ length: nodes }, async () => owned.use(await startServer(fault, options)));
    await Promise.allSettled(starts);
    const servers = await Promise.all(starts);
    return new NodeProcesses(url, servers, owned.move());
  }

  /** By turns, however large the number. */
  api(place: number): ApiClient {
    return (this.servers[place % this.servers.length] as ServerProcess).api;
  }

  /** Transactions of all nodes that lost a race with another and were done again. */
  async retries(): Promise<number> {
    let count = 0;
    for (const { api } of this.servers) {
      const { body } = await api.get('/metrics');
      for (const [, value] of String(body).matchAll(/^runwire_store_conflicts_total\{[^}]*\} (\d+)$/gm)) {
        count += Number(value);
      }
    }
    return count;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync();
  }
}
