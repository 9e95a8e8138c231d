import { runServerProcess } from './server-process.ts';

/** Loads the faults only if its parent names one. */
await runServerProcess(async (fault, given) => (await import('./faults/faults.ts')).plantFault(fault, given));
