import { setFlagsFromString } from 'node:v8';

/**
 * For a process that serves requests. V8's memory reducer collects the whole heap twice when a process has been idle for
 * 8 s. No request is active then, so V8 also drops the optimised code for objects that only requests create, and the
 * next 600 runs and more cost 40 % more CPU (decision 0088). Allocation still starts collections as before.
 */
export function keepOptimisedCode(): void {
  setFlagsFromString('--no-memory-reducer');
}
