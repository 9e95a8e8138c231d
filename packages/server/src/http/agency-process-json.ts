import type { AgencyCode, CodeState } from '../agencies/process/agency-code.ts';
import { iso } from '../domain/time.ts';

/** True if the run belongs to the owner who asks. */
export type IsOwnRun = (runId: string) => Promise<boolean>;

const FOREIGN_ERROR = 'An error that nothing caught; the log of the server has its message.';

/** What `GET /v2/agencies` shows of the process that runs the agency's code. */
export async function agencyProcessJson(code: AgencyCode | null, isOwnRun: IsOwnRun) {
  if (code === null) return { state: 'none', pid: null, memoryBytes: null, restarts: 0, lastFault: null };
  const { lastFault, ...shown } = code.state;
  return { ...shown, lastFault: lastFault === null ? null : await faultJson(lastFault, isOwnRun) };
}

/** Owners share agencies. An error of the code can quote a run's user, so only the owner of the run sees it. */
async function faultJson({ kind, message, usedBy, at }: NonNullable<CodeState['lastFault']>, isOwnRun: IsOwnRun) {
  const { tool = null, callId = null, runId = null } = usedBy ?? {};
  const isOwn = runId !== null && (await isOwnRun(runId));
  return {
    message: kind === 'exception' && !isOwn ? FOREIGN_ERROR : message,
    tool,
    ...(isOwn ? { callId, runId } : { callId: null, runId: null }),
    at: iso(at),
  };
}
