import type { Proof } from './proof.ts';

/** The promises of what agents may say, remember and run. */
export const AGENT_PROMISES: Readonly<Record<string, Proof>> = {
  guardrails: {
    minutes: 6,
    faults: {
      'send-before-check':
        /^delegated toolResult block: places that have the text: expected \[\], found \["sent","events"/m,
    },
    figures: () => ({ cases: 104, kills: 12, taken_over: 128 }),
  },
  'sandbox-everyday': {
    files: ['packages/sandbox/src/everyday.test.ts'],
    minutes: 4,
    faults: {
      'stale-table': /^row of `Clean up with `trap``: expected .*no: no `trap`.*, found /m,
      'no-home': /^Draw a chart as PNG, in bubblewrap: what is wrong: expected /m,
      'plain-just-bash': /^Copy a folder, .*, in just-bash: what is wrong: expected /m,
    },
    figures: () => ({ bubblewrap_works: 64, just_bash_works: 49, just_bash_fails: 15 }),
  },
  'long-chats': {
    test: 'a chat is summed up once per half of the room, and keeps its facts',
    minutes: 4,
    faults: {
      'summarize-every-turn': /: summaries before another half of the room was full: expected 0, found [1-9]\d*\.$/m,
      'forget-summary': /: facts of turn 1 in the last prompt: expected 1, found 0\.$/m,
    },
    figures: (scale) => ({ turns: scale(60, 1000), kills: scale(3, 18) }),
  },
  images: {
    minutes: 3,
    faults: {
      'drop-image-on-resume': /^.*: prompt after kill -9: expected "[0-9a-f]{16}", found "[0-9a-f]{16}"\.$/m,
    },
    figures: () => ({ adapters: 4, cases: 40, images: 208 }),
  },
  state: {
    files: ['test/state.full.test.ts', 'test/lasting-hand-offs.full.test.ts'],
    minutes: 14,
    faults: {
      'write-at-once': /^.*: state of the chat: expected \[.*\], found \[/m,
      'decide-again': /^.*: outcome of the hidden tool: expected \[/m,
      'hand-off-at-once': /^.*: lasting agent after a cancelled run: expected "Clerk", found "Triage"\.$/m,
      'forget-beginning': /^.*: agents of the run: expected \["Billing",.*\], found \["Triage"/m,
    },
    figures: (scale) => ({ runs: scale(6, 104), chats: scale(12, 98), kills: scale(8, 94) }),
  },
};
