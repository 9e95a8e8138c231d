import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient, ModelController, StreamReader, WaitPoint } from '@runwire/test-kit';

export const INTEGRATION = 'kill';
export const PATH = `/v2/integrations/${INTEGRATION}`;
export const REQUEST = {
  apiIntegrationId: INTEGRATION,
  consumerId: 'member-1',
  chatId: 'chat-1',
  usageRequestId: 'request-1',
  message: 'Say something.',
};

export interface Stage {
  readonly api: ApiClient;
  readonly model: ModelController;
  readonly post: Promise<StreamReader>;
}

/** What the model does, and whoever else, while the process lives. */
const scripts = {
  /** Says two words and is done. */
  async speak({ model }: Stage) {
    const call = await model.nextCall();
    await call.text('One ');
    await call.text('two.');
    await call.end();
  },
  /** Goes on for as long as anybody listens, so that another flush always comes. */
  async talk({ model }: Stage) {
    const call = await model.nextCall();
    while (!call.isClosed) {
      await call.text('word ');
      await sleep(20);
    }
  },
  async useTool({ model }: Stage) {
    const call = await model.nextCall();
    await call.toolCall('call_1', 'echo', '{"a":1}');
    await call.end();
    const next = await model.nextCall();
    await next.text('Done.');
    await next.end();
  },
  async fail({ model }: Stage) {
    const call = await model.nextCall();
    await call.text('One ');
    await call.fail('model_error', 'The model broke.');
  },
  /** Somebody cancels after the first word, which no second one follows. */
  async cancel({ api, model, post }: Stage) {
    const call = await model.nextCall();
    await call.text('One ');
    const reader = await post;
    await reader.untilText('One ');
    await api.post(`${PATH}/runs/${reader.headers['x-run-id']}/cancel`);
  },
};

export type ScriptName = keyof typeof scripts;

export const playScript = (name: ScriptName, stage: Stage): Promise<void> => scripts[name](stage);

/** How the run must end after the restart, where it goes on if it had not ended; `none`: nothing was reserved. */
export type Outcome = 'none' | 'completed' | 'cancelled' | 'model_error';

/** What the client has seen, as a level: 0 nothing, 1 the head, 2 `messages`, 3 `end`. */
export type Levels = readonly [least: number, most: number];

export interface KillCase {
  readonly point: WaitPoint;
  readonly script: ScriptName;
  /** At which time it comes there. */
  readonly time: number;
  /** Where the next start dies, too. */
  readonly nextStart: WaitPoint | null;
  readonly outcome: Outcome;
  readonly seen: Levels;
}

const NOTHING: Levels = [0, 0];
const HEAD: Levels = [1, 1];
/** What is attached is fetched beside the answer's way out. */
const PERHAPS_HEAD: Levels = [0, 1];

/** What of the file is looked for in what the model is shown. */
export const ATTACHED_TEXT = 'Attached by its URL.';

/** Whether its message has a file by its URL. */
export const attaches = ({ point }: KillCase): boolean => point.startsWith('attachment.');

function kill(
  point: WaitPoint,
  script: ScriptName,
  outcome: Outcome,
  seen: Levels,
  more: { time?: number; nextStart?: WaitPoint } = {},
): KillCase {
  return { point, script, outcome, seen, time: more.time ?? 1, nextStart: more.nextStart ?? null };
}

/** Every wait point of a run's life; what is durable there decides the outcome, never the proof. */
export const KILL_CASES: readonly KillCase[] = [
  kill('admit.before-commit', 'talk', 'none', NOTHING),
  kill('admit.after-commit', 'talk', 'completed', NOTHING),
  kill('attachment.before-commit', 'speak', 'completed', PERHAPS_HEAD),
  kill('attachment.after-commit', 'speak', 'completed', PERHAPS_HEAD),
  kill('header.before', 'talk', 'completed', NOTHING),
  kill('header.after', 'talk', 'completed', HEAD),
  kill('first-byte.before', 'talk', 'completed', HEAD),
  kill('first-byte.after', 'talk', 'completed', HEAD),
  kill('flush.before-commit', 'talk', 'completed', HEAD),
  kill('flush.after-commit', 'talk', 'completed', HEAD),
  kill('step.before-commit', 'useTool', 'completed', HEAD),
  kill('step.after-commit', 'useTool', 'completed', HEAD),
  kill('settle.before', 'speak', 'completed', HEAD),
  kill('end.before-commit', 'speak', 'completed', HEAD),
  kill('end.after-commit', 'speak', 'completed', HEAD),
  kill('settle.after', 'speak', 'completed', HEAD),
  kill('messages.before', 'speak', 'completed', HEAD),
  kill('messages.after', 'speak', 'completed', [2, 3]),
  kill('end-frame.before', 'speak', 'completed', [1, 2]),
  kill('end-frame.after', 'speak', 'completed', [3, 3]),
  kill('cancel-intent.before', 'cancel', 'completed', HEAD),
  kill('cancel.before-commit', 'cancel', 'completed', HEAD),
  kill('cancel.after-commit', 'cancel', 'cancelled', HEAD),
  kill('cancel-intent.after', 'cancel', 'cancelled', HEAD),
  kill('flush.after-commit', 'talk', 'completed', HEAD, { nextStart: 'takeover.before-commit' }),
  kill('flush.after-commit', 'talk', 'completed', HEAD, { nextStart: 'takeover.after-commit' }),
  kill('sweep.before-commit', 'speak', 'completed', [1, 3]),
  kill('sweep.after-commit', 'speak', 'completed', [1, 3]),
];

/** With these a server compacts the events of a run as soon as it has ended. */
export const SWEEP_AT_ONCE = { logMs: 0, sweepMs: 20 };

/** The same places reached on other roads. */
export const FURTHER_KILL_CASES: readonly KillCase[] = [
  kill('flush.before-commit', 'talk', 'completed', HEAD, { time: 2 }),
  kill('flush.after-commit', 'talk', 'completed', HEAD, { time: 2 }),
  kill('step.before-commit', 'useTool', 'completed', HEAD, { time: 2 }),
  kill('step.after-commit', 'useTool', 'completed', HEAD, { time: 2 }),
  kill('end.before-commit', 'useTool', 'completed', HEAD),
  kill('end.after-commit', 'useTool', 'completed', HEAD),
  kill('end.before-commit', 'fail', 'completed', HEAD),
  kill('end.after-commit', 'fail', 'model_error', HEAD),
  kill('messages.after', 'fail', 'model_error', [2, 3]),
  kill('settle.before', 'cancel', 'cancelled', HEAD),
  kill('end.before-commit', 'cancel', 'cancelled', HEAD),
  kill('end.after-commit', 'cancel', 'cancelled', HEAD),
  kill('messages.after', 'cancel', 'cancelled', [2, 3]),
  kill('cancel.after-commit', 'cancel', 'cancelled', HEAD, { nextStart: 'takeover.before-commit' }),
  kill('cancel.after-commit', 'cancel', 'cancelled', HEAD, { nextStart: 'takeover.after-commit' }),
  kill('sweep.before-commit', 'useTool', 'completed', [1, 3]),
  kill('sweep.after-commit', 'useTool', 'completed', [1, 3]),
  kill('sweep.after-commit', 'fail', 'model_error', [1, 3]),
];
