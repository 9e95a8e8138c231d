import type { Proof } from './proof.ts';

/** The promises of webhooks, schedules and traces. */
export const EVENT_PROMISES: Readonly<Record<string, Proof>> = {
  webhooks: {
    minutes: 5,
    faults: {
      'beside-the-transaction': /^lost: expected 0, found [1-9]\d*\.$/m,
      'sign-another-body': /^signatures that a library refuses: expected 0, found [1-9]\d*\.$/m,
      'new-id-per-attempt': /^events with several ids or bodies: expected 0, found [1-9]\d*\.$/m,
    },
  },
  traces: {
    minutes: 1,
    faults: {
      'new-trace-per-attempt': /^taken-over: spans of the run in other traces: expected 0, found [1-9]\d*\.$/m,
      'leak-content': /^tools: planted words in the export: expected 0, found [1-9]\d*\.$/m,
    },
    figures: (scale) => ({ runs: scale(10, 150), traces: scale(10, 150), planted: 0 }),
  },
  'webhook-guard': {
    minutes: 0.5,
    faults: {
      'check-at-creation': /^addresses dialled for ssrf-\d+ .*: expected \[\], found \[/m,
    },
  },
  'webhook-slow': {
    minutes: 1,
    measuresTime: true,
    faults: { 'one-queue': /^events at each of nine receivers within \d+ ms: expected at least \d+, found \d+\.$/m },
  },
  rotate: {
    minutes: 0.5,
    faults: {
      'sign-another-body': /^posts that the old secret refuses before the rotation: expected 0, found \d+\.$/m,
    },
  },
  schedules: {
    minutes: 5,
    faults: {
      'tick-per-node': /^three nodes: runs for \d+ ticks: expected \d+, found \d+\.$/m,
      'catch-up-after-restore': /^ticks between backup and restore that ran after it: expected 0, found [1-9]\d*\.$/m,
    },
  },
};
