import type { ModelCall } from '@runwire/test-kit';
import type { ScriptedServer } from './scripted-server.ts';

/* Models of several agents, each of which plays its turns in their order. */

export type Turn = (call: ModelCall) => Promise<void>;

export const say =
  (text: string): Turn =>
  async (call) => {
    await call.text(text);
    await call.end();
  };

export const calls =
  (...made: readonly (readonly [id: string, name: string, given: object])[]): Turn =>
  async (call) => {
    for (const [id, name, given] of made) await call.toolCall(id, name, JSON.stringify(given));
    await call.end();
  };

/** A `send_message`. */
export const ask = (id: string, to: string, message: string, more = {}) =>
  [id, 'send_message', { recipient_agent: to, message, ...more }] as const;

/** The name in the instructions `You are <name>.` */
export const getAgent = (call: ModelCall) => /^You are (\w+)\./.exec(call.request.instructions)?.[1] ?? '';

/** Each agent plays its turns in their order. */
export function play(rig: ScriptedServer, turns: Readonly<Record<string, readonly Turn[]>>): readonly ModelCall[] {
  const played = new Map<string, number>();
  rig.controller.onCall = (call) => {
    const name = getAgent(call);
    const index = played.get(name) ?? 0;
    played.set(name, index + 1);
    const turn = turns[name]?.[index];
    if (turn === undefined) throw new Error(`${name} has no turn ${index + 1}.`);
    void turn(call);
  };
  return rig.controller.calls;
}
