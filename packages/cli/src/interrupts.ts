import { EXIT } from './exit-codes.ts';

/** Leaves immediately. Runs continue on the server. */
export const leave = (): never => process.exit(EXIT.interrupted);

/** Calls the function at Ctrl-C, in place of ending the process. Dispose it when Ctrl-C shall end the process again. */
export function onInterrupt(interrupt: () => void): Disposable {
  process.on('SIGINT', interrupt);
  return { [Symbol.dispose]: () => void process.off('SIGINT', interrupt) };
}
