import { parseOwnJson } from '@runwire/lib/strict-json.ts';
import type { Agencies } from '../agencies/agencies.ts';
import { OWN_CHAT_RULES } from '../domain/admission/chat-rules.ts';
import type { StoredAttachment } from '../domain/attachment/attachment.ts';
import { checkSandboxFile, parseSandboxFiles } from '../domain/file/sandbox-file.ts';
import type { IntegrationId, OwnerId } from '../domain/ids.ts';
import type { ClientTool } from '../domain/question/client-tool.ts';
import type { Settlement } from '../domain/question/question.ts';
import { Refusal } from '../domain/refusal.ts';
import type { RequestTrace } from '../domain/request-trace.ts';
import { isKeepable, type RerunSettings, takeKept } from '../domain/run/rerun.ts';
import { NO_EXTRAS, parseExtras } from '../domain/run/run-extras.ts';
import { isFinished } from '../domain/run/run-state.ts';
import type { JournalledStep } from '../domain/run/step.ts';
import { journalledStep } from '../runs/journal.ts';
import { onlyStepRow } from '../runs/only-step.ts';
import { readOriginalJournal } from '../runs/original-journal.ts';
import { attachmentsOfRun } from '../store/queries/attachments.ts';
import { type RunToRerun, runToRerun } from '../store/queries/reruns.ts';
import { first, type Reads } from '../store/store.ts';
import type { CompletionRequest } from './completion-request.ts';

/** The body of a rerun. Null counts as absent. */
export interface RerunBody {
  readonly afterStep?: number | null;
  readonly message?: string | null;
  readonly agent?: string | null;
  readonly agency?: string | null;
  readonly model?: string | null;
  readonly instructions?: string | null;
  readonly tools?: 'recorded' | 'live' | null;
  readonly keep?: boolean | null;
}

/** What a caller sent, and where. */
export interface GivenRerun {
  readonly ownerId: OwnerId;
  readonly integrationId: IntegrationId;
  readonly runId: string;
  readonly body: RerunBody;
  readonly userContext: unknown;
  readonly usageRequestId: string | null;
  readonly fingerprint: string | null;
  readonly trace: RequestTrace;
}

interface RerunDeps {
  readonly reads: Reads;
  readonly agencies: Agencies;
}

/**
 * Reads the original run as a request: a rerun is admitted like any other run. Throws `run_not_found`. Another refusal is part
 * of the request, because a replay is answered before it.
 */
export async function readRerun({ reads, agencies }: RerunDeps, given: GivenRerun): Promise<CompletionRequest> {
  const { integrationId, runId: requested, body, userContext, usageRequestId, fingerprint, ownerId, trace } = given;
  const run = await first(reads.all(runToRerun, { integrationId, runId: requested }));
  if (run === undefined) throw new Refusal('run_not_found', 'This integration has no such run.');
  const message = body.message ?? (run.content_json === null ? '' : (parseOwnJson(run.content_json) as string));
  const sent: CompletionRequest = {
    ownerId,
    integrationId,
    consumerId: run.consumer_id,
    member: null,
    trace,
    message,
    messageBytes: Buffer.byteLength(message),
    userContext,
    usageRequestId,
    fingerprint,
    attachments: [],
    sandboxFiles: [],
    chatId: null,
    aliasChatId: null,
    agent: body.agent ?? run.agent,
    answers: null,
    answeredBy: null,
    clientTools: [],
    ignoredFields: [],
    refreshes: [],
    history: [],
    extras: NO_EXTRAS,
    chatRules: { ...OWN_CHAT_RULES, isTransient: body.keep !== true },
  };
  try {
    return { ...sent, ...(await readOriginal(reads, agencies, run, given)) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ...sent, rerun: error };
  }
}

type OriginalParts = Pick<CompletionRequest, 'sandboxFiles' | 'clientTools' | 'extras' | 'rerun'>;

/** Throws a `Refusal`. */
async function readOriginal(
  reads: Reads,
  agencies: Agencies,
  run: RunToRerun,
  { body }: GivenRerun,
): Promise<OriginalParts> {
  const { run_id: runId, chat_key: chatKey } = run;
  if (run.deleted_at !== null || run.content_json === null || run.erasures > 0) {
    throw new Refusal('chat_not_found', 'The chat of this run was deleted.');
  }
  if (!isFinished(run.status)) {
    const sentence = 'The run has not ended; wait for its end, or cancel it.';
    throw new Refusal('run_active', sentence, { runId });
  }
  const afterStep = body.afterStep ?? 0;
  const steps = await readSteps(reads, run);
  checkAfterStep(run, steps, afterStep, body.message ?? null);
  if (run.attachments > 0) checkCopies(await reads.all(attachmentsOfRun, { chatKey, runId }));
  if (run.continues !== null && run.answers_json === null) {
    throw invalid('The run continued another one, and an earlier version of the server has deleted its answers.');
  }
  const agency = body.agency ?? run.agency;
  const model = body.model ?? null;
  const original = parseExtras(run.extras_json);
  const begins = body.agent == null ? original.begins : undefined;
  checkModel(agencies, agency, body.agent ?? begins ?? run.agent, model);
  const settings: RerunSettings = {
    of: runId,
    afterStep,
    tools: body.tools ?? 'recorded',
    model,
    instructions: body.instructions ?? null,
  };
  return {
    sandboxFiles: parseSandboxFiles(run.sandbox_files_json).flatMap((file) => {
      const checked = checkSandboxFile(file);
      return 'file' in checked ? [checked] : [];
    }),
    clientTools: run.client_tools_json === null ? [] : (parseOwnJson(run.client_tools_json) as ClientTool[]),
    extras: {
      ...NO_EXTRAS,
      instructions: original.instructions,
      outputSchema: original.outputSchema,
      ...(begins !== undefined && { begins }),
      rerun: settings,
    },
    rerun: {
      from: chatKey,
      runId,
      afterStep,
      hasAttachments: run.attachments > 0,
      agency,
      model,
      settlements: run.answers_json === null ? [] : (parseOwnJson(run.answers_json) as Settlement[]),
      journal: steps,
      steps: takeKept(steps, afterStep),
    },
  };
}

const invalid = (sentence: string) => new Refusal('invalid_request', sentence);

async function readSteps(reads: Reads, run: RunToRerun): Promise<readonly JournalledStep[]> {
  const only = onlyStepRow(run);
  return only === null ? readOriginalJournal(reads, run.run_id) : [journalledStep(only)];
}

function checkAfterStep(
  { status }: RunToRerun,
  steps: readonly JournalledStep[],
  afterStep: number,
  message: string | null,
): void {
  if (afterStep === 0) return;
  if (message !== null) {
    throw invalid(
      '`message` replaces the message only with `afterStep` 0: later steps were made for the original one.',
    );
  }
  if (!steps.some((one) => isKeepable(one) && one.step === afterStep)) {
    throw invalid('`afterStep` must be 0 or a finished step of the run outside of delegations; list its steps.');
  }
  if (status === 'completed' && steps.every(({ step }) => step <= afterStep)) {
    throw invalid(
      '`afterStep` is the last step of a completed run, so nothing would be left to do; choose an earlier one.',
    );
  }
}

/** Without its copy, an attachment would have to be fetched again, and may be another file now. */
function checkCopies(attachments: readonly StoredAttachment[]): void {
  const lost = attachments.find(({ blob_key: blobKey }) => blobKey === null);
  if (lost === undefined) return;
  const name = lost.filename_json === null ? null : (parseOwnJson(lost.filename_json) as string);
  const file = name ?? lost.url?.replace(/[?#].*$/, '') ?? `attachments[${lost.position}]`;
  const sentence = `The server keeps no copy of \`${file}\`, an attachment of the run; send the message again instead.`;
  throw new Refusal('attachment_unavailable', sentence);
}

/** Throws a `Refusal` if a run that begins with the agent cannot use the model. */
export function checkModel(agencies: Agencies, agency: string, agent: string, model: string | null): void {
  if (model === null || agencies.agent(agency, agent)?.ownModels.has(model) === true) return;
  const problem = agencies.modelProblem(model);
  if (problem !== null) throw invalid(`\`model\` cannot be used: ${problem}`);
}
