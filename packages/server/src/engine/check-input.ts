import { GuardrailBlocked } from '../agent/guardrails.ts';
import type { GuardrailAttachment } from '../agent/ports.ts';
import type { Progress } from '../agent/progress.ts';
import type { TeamAgent } from '../agent/team.ts';
import type { ReadyAttachment } from '../attachments/prompt-attachment.ts';
import { isEmpty } from '../chats/heal-history.ts';
import { attachmentName } from '../domain/attachment/attachment.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import { getBlockReason, type ShownMessage } from '../domain/run/guardrail-record.ts';
import type { Step } from '../domain/run/step.ts';
import type { UnfinishedCall } from '../domain/run/unfinished-step.ts';
import type { UnfinishedSteps } from './unfinished-steps.ts';
import type { UsedAttachments } from './used-attachments.ts';

interface CheckedRun {
  readonly run: AdmittedRun;
  readonly progress: Progress;
  readonly unfinished: Pick<UnfinishedSteps, 'cut'>;
}

/** A run whose message was checked. */
export type CheckedInput = AdmittedRun & { readonly shown?: ShownMessage | undefined };

/** Finds what prompts show in place of the message. Undefined if they show the message itself. */
export const findShownMessage = (steps: readonly Step[]): ShownMessage | undefined =>
  steps.find(({ kind }) => kind === 'guardrail')?.guardrails?.shown;

/**
 * Asks the guardrails about the user's message, before a model gets it. The verdicts are a step, so a later
 * attempt asks none again. Resolves to the run with what its prompts show. Rejects if the message is blocked.
 */
export async function checkInput(
  checked: CheckedRun,
  { guardrails, name: agent }: TeamAgent,
  attachments: UsedAttachments,
  journal: (step: Step) => Promise<void>,
): Promise<CheckedInput> {
  const { run, progress, unfinished } = checked;
  const known = run.resumed?.steps.find(({ kind }) => kind === 'guardrail');
  if (known !== undefined) return toChecked(run, known);
  if (guardrails === null || !guardrails.has('input') || isEmpty(run)) return run;
  const ready = await attachments.ready(run.attachments);
  progress.steps += 1;
  const call: UnfinishedCall = {
    step: progress.steps,
    kind: 'guardrail',
    loop: '',
    indexInLoop: 0,
    agent,
    callerAgent: null,
    model: null,
    tool: null,
    callId: null,
    usage: null,
    startedAt: Date.now(),
  };
  let step: Step;
  try {
    const subject = { text: run.message, attachments: ready.map(toGuardrailAttachment) };
    const { value, isReplaced, blocked, decisions } = await guardrails.ask('input', subject);
    const shown = blocked !== null ? toBlocked(blocked) : isReplaced ? { text: value, isBlocked: false } : null;
    const record = shown === null ? { decisions } : { decisions, shown };
    const status = blocked === null ? 'completed' : 'failed';
    step = { ...call, status, output: [], guardrails: record, completedAt: Date.now() };
  } catch (error) {
    unfinished.cut(call, error);
    throw error;
  }
  await journal(step);
  return toChecked({ ...run, attachments: ready }, step);
}

const toBlocked = (reason: string): ShownMessage => ({ text: `[blocked: ${reason}]`, isBlocked: true });

function toChecked(run: AdmittedRun, { guardrails }: Step): CheckedInput {
  if (guardrails === undefined) return run;
  const { decisions, shown } = guardrails;
  const reason = getBlockReason(decisions);
  if (reason !== null) throw new GuardrailBlocked(reason, decisions);
  return { ...run, shown };
}

const toGuardrailAttachment = (one: ReadyAttachment): GuardrailAttachment => ({
  name: attachmentName(one),
  mediaType: one.media_type,
  size: one.size_bytes,
  text: one.text,
});
