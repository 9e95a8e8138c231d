import { PostgresServer, S3Gateway, SHARED_SETTINGS, s3Environment } from '@runwire/test-kit';
import { missingServices, SERVICES } from './services.ts';

/**
 * A process of its own, started concurrently with the first steps of the gate. It installs the programs that tests need,
 * starts the PostgreSQL and the S3 gateway that all tests share, prints their addresses as one line of JSON, and stops
 * them when the gate closes its standard input or dies.
 */
for (const line of await missingServices()) process.stderr.write(`left out: ${line}\n`);
await using postgres = SERVICES.postgres.isThere() ? await PostgresServer.start(SHARED_SETTINGS) : null;
await using gateway = SERVICES.s3.isThere() ? await S3Gateway.start() : null;
const environment = {
  ...(postgres === null ? {} : { TEST_POSTGRES_URL: postgres.url() }),
  ...(gateway === null ? {} : { TEST_S3: s3Environment(gateway) }),
};
process.stdout.write(`${JSON.stringify(environment)}\n`);
for await (const _ of process.stdin);
