import { missingNginx } from './services.ts';

/** Run by the gate beside its first steps, so that no test waits for it. */
const missing = await missingNginx();
if (missing !== null) process.stdout.write(`left out: ${missing}\n`);
