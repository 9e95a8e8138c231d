import type { TestProof } from './support/test-proof.ts';

/** The proofs that are test files at full scale. */
export const TEST_PROOFS: Readonly<Record<string, TestProof>> = {
  cancel: {
    files: ['test/cancel.test.ts'],
    minutes: 0.5,
    faults: {
      'deaf-model': [
        'answers a cancel after the provider has seen its connection closed',
        /^round 1: provider sees its connection closed before the cancel is answered: expected within/m,
      ],
    },
  },
};
