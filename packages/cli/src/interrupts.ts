import { EXIT } from './exit-codes.ts';

/** Leaves immediately. Runs continue on the server. */
export const leave = (): never => process.exit(EXIT.interrupted);

/** Calls the function at Ctrl-C, in place of ending the process. Dispose it when Ctrl-C shall end the process again. */
export function onInterrupt(interrupt: () => void): Disposable {
  process.on('SIGINT', interrupt);
  return { [Symbol.dispose]: () => void process.off('SIGINT', interrupt) };
}

/** The same for every signal that asks a process to end, for commands that have something to clean up. */
export function onEndSignal(end: () => void): Disposable {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, end);
  return {
    [Symbol.dispose]: () => {
      for (const signal of signals) process.off(signal, end);
    },
  };
}
