import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelCall, WaitPoint } from '@runwire/test-kit';

/** What the model says while the node that is to stand still runs the run. */
const scripts = {
  /** Says two words and is done. */
  async speak(call: ModelCall) {
    await call.text('One ');
    await call.text('two.');
    await call.end();
  },
  /** Goes on for as long as anybody listens, also while nobody takes it. */
  async talk(call: ModelCall) {
    while (!call.isClosed) {
      await Promise.race([call.text('word '), call.closed]);
      await sleep(20);
    }
  },
  async useTool(call: ModelCall) {
    if (call.request.step === 1) await call.toolCall('call_1', 'echo', '{"a":1}');
    else await call.text('Done.');
    await call.end();
  },
  /** One word, and the rest is up to others. */
  async word(call: ModelCall) {
    await call.text('One ');
  },
};

export type Script = keyof typeof scripts;
export const say = (script: Script, call: ModelCall): Promise<void> => scripts[script](call);

export interface ZombieCase {
  readonly point: WaitPoint;
  readonly script: Script;
  /** At which time it comes there. */
  readonly time: number;
  /** Who brings it there, besides the run itself. */
  readonly by: 'run' | 'cancel' | 'change' | 'sweep' | 'takeover';
  /** What is stored of the run when it stands still. */
  readonly stored: 'nothing' | 'unfinished' | 'cancel' | 'end';
  /** Whether the message has an image: a file of the run's own. */
  readonly hasImage: boolean;
  /** Whether it has a file by its URL, which the run fetches. */
  readonly hasUrl: boolean;
  /** How many files are kept once another has the run; what was put and not recorded is one that nobody knows. */
  readonly files: number;
}

function stop(
  point: WaitPoint,
  script: Script,
  stored: ZombieCase['stored'],
  more: { time?: number; by?: ZombieCase['by']; hasImage?: true; urlFiles?: number } = {},
): ZombieCase {
  const { time = 1, by = 'run', hasImage = false, urlFiles } = more;
  const files = urlFiles ?? Number(hasImage);
  return { point, script, stored, time, by, hasImage, hasUrl: urlFiles !== undefined, files };
}

/** Every wait point, and some of them again on another road. */
export const ZOMBIE_CASES: readonly ZombieCase[] = [
  stop('flush.before-commit', 'talk', 'unfinished', { time: 2, hasImage: true }),
  stop('step.after-commit', 'useTool', 'unfinished'),
  stop('end.before-commit', 'speak', 'unfinished'),
  stop('admit.before-commit', 'talk', 'nothing'),
  stop('admit.before-commit', 'talk', 'nothing', { hasImage: true }),
  stop('admit.after-commit', 'talk', 'unfinished', { hasImage: true }),
  stop('attachment.before-commit', 'talk', 'unfinished', { urlFiles: 2 }),
  stop('attachment.after-commit', 'talk', 'unfinished', { urlFiles: 1 }),
  stop('header.before', 'talk', 'unfinished'),
  stop('header.after', 'talk', 'unfinished'),
  stop('first-byte.before', 'talk', 'unfinished'),
  stop('first-byte.after', 'talk', 'unfinished'),
  stop('flush.before-commit', 'talk', 'unfinished'),
  stop('flush.after-commit', 'talk', 'unfinished'),
  stop('flush.after-commit', 'talk', 'unfinished', { time: 2 }),
  stop('step.before-commit', 'useTool', 'unfinished'),
  stop('step.before-commit', 'useTool', 'unfinished', { time: 2 }),
  stop('step.after-commit', 'useTool', 'unfinished', { time: 2 }),
  stop('settle.before', 'speak', 'unfinished'),
  stop('end.before-commit', 'useTool', 'unfinished'),
  stop('end.after-commit', 'speak', 'end'),
  stop('settle.after', 'speak', 'end'),
  stop('messages.before', 'speak', 'end'),
  stop('messages.after', 'speak', 'end'),
  stop('end-frame.before', 'speak', 'end'),
  stop('end-frame.after', 'speak', 'end'),
  stop('cancel-intent.before', 'word', 'unfinished', { by: 'cancel' }),
  stop('cancel.before-commit', 'word', 'unfinished', { by: 'cancel' }),
  stop('cancel.after-commit', 'word', 'cancel', { by: 'cancel' }),
  stop('cancel-intent.after', 'word', 'cancel', { by: 'cancel' }),
  stop('end.before-commit', 'word', 'cancel', { by: 'cancel' }),
  stop('takeover.before-commit', 'talk', 'unfinished', { by: 'takeover' }),
  stop('takeover.after-commit', 'talk', 'unfinished', { by: 'takeover', hasImage: true }),
  stop('sweep.before-commit', 'speak', 'end', { by: 'sweep' }),
  stop('sweep.after-commit', 'speak', 'end', { by: 'sweep' }),
  stop('account.before-commit', 'word', 'unfinished', { by: 'change' }),
  stop('account.after-commit', 'word', 'unfinished', { by: 'change' }),
];
