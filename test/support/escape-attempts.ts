import type { Attempt } from './escape-attempt.ts';
import { AMOUNTS, ENDING, LEFT_BEHIND } from './escape-by-amount.ts';
import { HOST_FILES, KERNEL, NETWORK, PROCESSES } from './escape-by-reach.ts';

export const ATTEMPTS: readonly Attempt[] = [
  ...HOST_FILES,
  ...PROCESSES,
  ...NETWORK,
  ...KERNEL,
  ...AMOUNTS,
  ...ENDING,
  ...LEFT_BEHIND,
];
