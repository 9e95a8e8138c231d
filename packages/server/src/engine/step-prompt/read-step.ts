import { parseSandboxFiles } from '../../domain/file/sandbox-file.ts';
import type { ChatKey, RunId } from '../../domain/ids.ts';
import type { ClientTool } from '../../domain/question/client-tool.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { HiddenPart } from '../../domain/run/hidden-part.ts';
import { parseExtras } from '../../domain/run/run-extras.ts';
import { isOwnStep, type JournalledStep, type StepOutcome } from '../../domain/run/step.ts';
import { journalledStep } from '../../runs/journal.ts';
import { onlyStepRow } from '../../runs/only-step.ts';
import { attachmentsOfRun } from '../../store/queries/attachments.ts';
import { messageTexts } from '../../store/queries/forks.ts';
import { runOfPrompt, storedDefinition } from '../../store/queries/step-prompts.ts';
import { onlyStepOfRun } from '../../store/queries/steps.ts';
import { getJournal } from '../../store/queries/takeover.ts';
import { unfinishedStep } from '../../store/queries/unfinished-steps.ts';
import { first, type Reads } from '../../store/store.ts';
import type { AgencyDefinition } from './definition.ts';

/** A run's model step, with the run's journal. */
export interface SoughtRow {
  readonly row: {
    readonly agent: string;
    readonly model: string | null;
    readonly loop: string;
    readonly indexInLoop: number;
    readonly promptBytes?: number;
    readonly hidden?: readonly HiddenPart[];
  };
  readonly journal: readonly JournalledStep[];
  /** False if the run is a rerun that keeps the step. */
  readonly isOwn: boolean;
}

/** Returns null if the run has no such model step. */
export async function findSought(reads: Reads, runId: RunId, step: number): Promise<SoughtRow | null> {
  const only = await first(reads.all(onlyStepOfRun, { runId }));
  const onlyRow = only === undefined ? null : onlyStepRow(only);
  const rows = onlyRow === null ? await reads.all(getJournal, { runId }) : [onlyRow];
  const journal = rows.map(journalledStep);
  const known = journal.find((one) => one.step === step);
  if (known !== undefined) return toSought(known, journal);
  const row = await first(reads.all(unfinishedStep, { runId, step }));
  if (row === undefined || row.kind !== 'model') return null;
  const { promptBytes, hidden } = JSON.parse(row.record_json) as Pick<StepOutcome, 'promptBytes' | 'hidden'>;
  const { agent, model, loop, index_in_loop: indexInLoop } = row;
  return {
    row: {
      ...{ agent, model, loop, indexInLoop },
      ...(promptBytes !== undefined && { promptBytes }),
      ...(hidden !== undefined && { hidden }),
    },
    journal,
    isOwn: true,
  };
}

const toSought = (step: JournalledStep, journal: readonly JournalledStep[]): SoughtRow | null =>
  step.kind === 'model' ? { row: withIndex(step, journal), journal, isOwn: isOwnStep(step) } : null;

/** An early version did not store the index. */
function withIndex(step: JournalledStep, journal: readonly JournalledStep[]): JournalledStep {
  if (step.indexInLoop > 0) return step;
  const before = journal.filter(
    ({ kind, loop, step: other }) => kind === 'model' && loop === step.loop && other < step.step,
  );
  return { ...step, indexInLoop: before.length + 1 };
}

/** Reads the run as its prompt needs it. */
export async function readRun(reads: Reads, runId: RunId) {
  const row = await first(reads.all(runOfPrompt, { runId }));
  if (row === undefined) throw new Refusal('chat_not_found', 'The chat of this run was deleted.');
  const { chat_key: chatKey, position } = row;
  const attachments = await reads.all(attachmentsOfRun, { chatKey, runId });
  const extras = parseExtras(row.extras_json);
  return {
    runId,
    chatKey,
    position,
    integrationId: row.integration_id,
    integrationModel: extras.rerun?.model ?? row.integration_model,
    consumerId: row.consumer_id,
    agency: row.agency,
    agencyVersion: row.agency_version,
    agent: row.agent,
    day: row.day,
    continues: row.continues,
    extras,
    clientTools: JSON.parse(row.client_tools_json ?? '[]') as readonly ClientTool[],
    message: JSON.parse(row.content_json) as string,
    sandboxFiles: parseSandboxFiles(row.sandbox_files_json),
    // Providers got the attachments that were fetched.
    attachments: attachments.filter(({ form }) => form !== null),
    hasHistory: position > 1,
  };
}

export type ReadRun = Awaited<ReturnType<typeof readRun>>;

export async function readStoredDefinition(
  reads: Reads,
  { agency, agencyVersion: version }: ReadRun,
): Promise<AgencyDefinition | null> {
  if (version === null) return null;
  const row = await first(reads.all(storedDefinition, { agency, version }));
  return row === undefined ? null : (JSON.parse(row.definition_json) as AgencyDefinition);
}

const PAGE = 250;

/** Adds up the chat's text bytes up to the run's message. */
export async function readLength(
  reads: Reads,
  { chatKey, position }: { readonly chatKey: ChatKey; readonly position: number },
): Promise<number> {
  let bytes = 0;
  for (let from = 1; from <= position; from += PAGE) {
    const before = Math.min(from + PAGE, position + 1);
    for (const { content_json: json } of await reads.all(messageTexts, { chatKey, from, before })) {
      bytes += Buffer.byteLength(JSON.parse(json) as string);
    }
  }
  return bytes;
}
