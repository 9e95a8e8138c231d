import { PostgresServer, postgresFolder } from '@runwire/test-kit';

/** One server for all tests of a gate; null where PostgreSQL is not installed. It ends with the gate, however that ends. */
export async function startGatePostgres(): Promise<PostgresServer | null> {
  return postgresFolder() === null ? null : PostgresServer.start();
}
