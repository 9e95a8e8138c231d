import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { childReads } from './child-reads.ts';

/**
 * The process may read its own code and start its thread, and nothing else: no other file, no network, no writing, no other
 * process. A document that takes control of a library finds no secret: neither the data folder nor an environment.
 */
export const childArguments = (): readonly string[] => [
  '--permission',
  ...childReads().map((path) => `--allow-fs-read=${path}`),
  '--allow-worker',
];

/** Starts the process that reads documents. If the machine has no memory left, it throws, or the process emits `error`. */
export type StartChild = () => ChildProcess;

export const startDocumentChild: StartChild = () => {
  const file = import.meta.url.endsWith('.ts') ? './document-child.ts' : './document-child.js';
  return fork(fileURLToPath(new URL(file, import.meta.url)), {
    env: {},
    execArgv: [...childArguments()],
    stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
  });
};
