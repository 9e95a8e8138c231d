import { missingServices } from './services.ts';

/** Run by the gate beside its first steps, so that no test waits for it. */
for (const line of await missingServices()) process.stdout.write(`left out: ${line}\n`);
