import type { AboutRun, LoadedAgent, RunMember } from '../agencies/loaded-agency.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import { memberById } from '../store/queries/accounts.ts';
import { first, type Reads } from '../store/store.ts';

const DAY_MS = 86_400_000;

/** Collects what instructions can use. The member is read only if the agent's instructions use it. */
export async function aboutRun(
  reads: Reads,
  run: Pick<AdmittedRun, 'day' | 'integrationId' | 'consumerId' | 'userContext'>,
  { usesMember }: Pick<LoadedAgent, 'usesMember'>,
): Promise<AboutRun> {
  return aboutMember(run, usesMember ? await getMember(reads, run) : null);
}

/** The same with a member that is known, or not used. */
export function aboutMember(run: Pick<AdmittedRun, 'day' | 'userContext'>, member: RunMember | null): AboutRun {
  return {
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
