import { S3Gateway, s3Environment } from '@runwire/test-kit';
import { missingServices, SERVICES } from './services.ts';

/**
 * A process of its own beside the gate's first steps, so that no test waits for it: installs what tests stand on, starts
 * the one S3 gateway that they share, says where it is in one line of JSON, and ends it when the gate is gone.
 */
for (const line of await missingServices()) process.stderr.write(`left out: ${line}\n`);
await using gateway = SERVICES.s3.isThere() ? await S3Gateway.start() : null;
process.stdout.write(`${JSON.stringify(gateway === null ? {} : { TEST_S3: s3Environment(gateway) })}\n`);
// The gate holds the other end, however it ends.
for await (const _ of process.stdin);
