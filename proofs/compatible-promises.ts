import type { Proof } from './proof.ts';

/** The promises of forks and of the compatible APIs. */
export const COMPATIBLE_PROMISES: Readonly<Record<string, Proof>> = {
  'openai-api': {
    files: ['test/openai-api.test.ts', 'test/openai-restarts.test.ts'],
    test: 'each client asks once, shows the answer, and executes no tool of the server',
    minutes: 3,
    faults: {
      'steps-as-they-are': /^openai, stream helper: answer: expected .*, found /m,
      'tools-as-functions':
        /^@(openai\/agents|ai-sdk\/openai), \w+: (answer|runs for one question): expected .*, found /m,
    },
  },
  'openai-retries': {
    files: ['test/openai-retries.test.ts', 'test/compatible.test.ts'],
    test: 'what must not be repeated is posted once',
    minutes: 2,
    faults: { 'fail-with-500': /^failed run: posts: expected 1, found 3\.$/m },
  },
  'open-responses': {
    files: ['test/open-responses.test.ts'],
    minutes: 0.2,
    faults: { 'drop-a-field': /problems of .*: expected \[\], found \["(event\.)?response\.top_p is missing"\]/m },
  },
  'chat-completions': {
    files: ['test/chat-completions.test.ts', 'test/chat-restarts.test.ts'],
    minutes: 1.5,
    faults: {
      'end-quietly': /^(errors thrown with their code|restarts that were reported): expected [1-9]\d*, found 0\.$/m,
    },
  },
  'ag-ui': {
    files: ['test/ag-ui.test.ts'],
    minutes: 1.5,
    faults: { 'leave-open': /Cannot send 'RUN_FINISHED' while text messages are still active/ },
  },
  'mcp-server': {
    files: ['test/mcp-server.test.ts'],
    test: 'three nodes without sticky sessions',
    minutes: 2,
    faults: {
      'keep-running-after-cancel': /round 0: the provider's connection is open 10 s after the cancel/,
    },
  },
  'use-chat': {
    files: ['test/use-chat.test.ts'],
    minutes: 3,
    faults: {
      'ignore-reset': /^after the server was killed: word \d+ is w\d{5}, expected w\d{5}\.$/m,
    },
    figures: (scale) => ({ reloads: scale(2, 10), kills: 1 }),
  },
  rerun: {
    minutes: 12,
    faults: {
      'call-again': /^.*: tool_calls: expected 0, found [1-9]\d*\.$/m,
      'shift-step': /^.*: prompts: expected \[.*\], found \[/m,
      'charge-rerun': /^embedded: charged_members: expected 0, found [1-9]\d*\.$/m,
    },
    figures: (scale) => ({ runs: scale(24, 200), tool_calls: 0, files_changed: 0, charged_members: 0 }),
  },
  'rerun-live': {
    test: 'a rerun with live tools and another model makes the calls after its step, each once',
    minutes: 3,
    measuresTime: true,
    faults: { 'shift-step': /^.*: calls (after the step|of the other model): expected .*, found /m },
  },
  forks: {
    files: ['test/fork-points.test.ts'],
    minutes: 3,
    faults: {
      'share-questions': /^open questions( after another chat was answered)?: expected 1, found 0\.$/m,
    },
  },
};
