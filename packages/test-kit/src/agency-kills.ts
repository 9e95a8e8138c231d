import { readFileSync } from 'node:fs';
import type { ApiClient } from '@runwire/server/testing';
import { until } from './shortfall.ts';

/** The processes in which this server runs the agency code. Linux shows a process's children. */
export function findAgencyProcesses(serverPid: number): readonly number[] {
  const children = readFileSync(`/proc/${serverPid}/task/${serverPid}/children`, 'latin1');
  return children.split(' ').filter(isAgencyProcess).map(Number);
}

function isAgencyProcess(pid: string): boolean {
  try {
    return readFileSync(`/proc/${Number(pid)}/cmdline`, 'latin1').includes('agency-child');
  } catch {
    // The process has ended.
    return false;
  }
}

interface ShownProcess {
  readonly state: string;
  readonly pid: number;
  readonly restarts: number;
}

/** Waits until the process of an agency runs. */
export async function agencyProcess(api: ApiClient, agency: string): Promise<ShownProcess> {
  let shown: ShownProcess | undefined;
  await until(`process of the agency ${agency}`, async () => {
    const { items } = (await api.get('/v2/agencies?limit=200')).body;
    shown = items.find((item: { readonly agency: string }) => item.agency === agency)?.process;
    return shown?.state === 'running';
  });
  return shown as ShownProcess;
}
