import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** It may read files and start its thread, and nothing else: no network, no writing, no other process. */
export const CHILD_ARGUMENTS = ['--permission', '--allow-fs-read=*', '--allow-worker'];

/** Starts the process that reads documents. Where the machine has nothing left it throws, or the process tells of an error. */
export type StartChild = () => ChildProcess;

export const startDocumentChild: StartChild = () => {
  const file = import.meta.url.endsWith('.ts') ? './document-child.ts' : './document-child.js';
  return fork(fileURLToPath(new URL(file, import.meta.url)), {
    env: {},
    execArgv: CHILD_ARGUMENTS,
    stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
  });
};
