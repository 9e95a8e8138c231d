import type { Scope } from '../domain/account/scope.ts';
import { Refusal } from '../domain/refusal.ts';
import { type ToolImageRow, toolImageOfRun } from '../store/queries/tool-images.ts';
import { first, type Reads } from '../store/store.ts';
import type { RunReads } from './read-runs.ts';
import { checkHasSteps } from './run-steps.ts';

/** Finds an image that a tool of the run returned. A fork keeps the images of the runs whose messages it has. */
export async function findRunAttachment(
  { reads, runReads }: { readonly reads: Reads; readonly runReads: RunReads },
  scope: Scope,
  requested: string,
  attachmentId: string,
): Promise<ToolImageRow> {
  const run = await runReads.row(scope, requested);
  await checkHasSteps(reads, run);
  const found = await first(reads.all(toolImageOfRun, { runId: run.run_id, attachmentId }));
  if (found === undefined) throw new Refusal('attachment_not_found');
  return found;
}
