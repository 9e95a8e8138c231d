import type { AboutRun, LoadedAgent, RunMember } from '../agencies/loaded-agency.ts';
import { parseState, stateObject } from '../domain/chat/chat-state.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import { memberById } from '../store/queries/accounts.ts';
import { stateAtStart } from '../store/queries/chat-states.ts';
import { first, type Reads } from '../store/store.ts';

const DAY_MS = 86_400_000;

/** For what does not use the chat's state. */
export const NO_STATE: AboutRun['state'] = {};

/** Collects what instructions can use. The member and the state are read only if the agent's instructions use them. */
export async function aboutRun(
  reads: Reads,
  run: Pick<AdmittedRun, 'day' | 'integrationId' | 'consumerId' | 'userContext' | 'chatKey'>,
  { usesMember, usesState }: Pick<LoadedAgent, 'usesMember' | 'usesState'>,
): Promise<AboutRun> {
  const row = usesState !== null ? await first(reads.all(stateAtStart, run)) : undefined;
  const state = row === undefined ? NO_STATE : stateObject(parseState(row.state_json));
  return aboutMember(run, usesMember ? await getMember(reads, run) : null, state);
}

/** The same with a member and a state that are known, or not used. */
export function aboutMember(
  run: Pick<AdmittedRun, 'day' | 'userContext'>,
  member: RunMember | null,
  state: AboutRun['state'] = NO_STATE,
): AboutRun {
  return {
    state,
    get date() {
      return new Date(run.day * DAY_MS).toISOString().slice(0, 10);
    },
    member,
    userContext: run.userContext,
  };
}

/** Reads a run's member. Returns null if the request named none. */
export async function getMember(
  reads: Reads,
  { integrationId, consumerId }: Pick<AdmittedRun, 'integrationId' | 'consumerId'>,
): Promise<RunMember | null> {
  if (consumerId === null) return null;
  const row = await first(reads.all(memberById, { integrationId, consumerId }));
  const name = row === undefined || row.name_json === null ? null : (JSON.parse(row.name_json) as string);
  const metadata: unknown = row === undefined ? {} : JSON.parse(row.metadata_json);
  return { consumerId, name, metadata };
}
