import type { PoolClient } from 'pg';
import { ConnectionLost } from './errors.ts';

/** The caller does not wait for the rollback: the connection is released after it. */
export function rollBack(client: PoolClient, error: unknown): void {
  if (error instanceof ConnectionLost) client.release(true);
  else {
    client.query('rollback').then(
      () => client.release(),
      () => client.release(true),
    );
  }
}
