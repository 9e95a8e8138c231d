import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { childReads } from './child-reads.ts';

/**
 * The process may only read its own code and start its thread: no other files, no network, no writes, no other
 * processes. If a document takes control of a library, it finds no secrets: neither the data folder nor the
 * environment.
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
