import { type ChatKey, type IntegrationId, newId, type RunId } from '../../domain/ids.ts';
import type { OpenQuestions, Question } from '../../domain/question/question.ts';
import { parseExtras } from '../../domain/run/run-extras.ts';
import { JOURNAL_FORMAT_WITH_ACTIONS, type StepOutcome } from '../../domain/run/step.ts';
import { insertAskedQuestion } from '../../store/queries/asked-questions.ts';
import { askingRun } from '../../store/queries/forks.ts';
import { continuedRun } from '../../store/queries/runs.ts';
import { getJournal } from '../../store/queries/takeover.ts';
import { first, type Reads, type Tx } from '../../store/store.ts';

/**
 * Returns the questions with which a run ended, with new ids, also if they were answered since. Null if it asked nothing. They
 * are read from the journal: they are the calls that needed an answer and had no outcome when the run ended.
 */
export async function findQuestions(reads: Reads, runId: RunId): Promise<OpenQuestions | null> {
  const run = await first(reads.all(askingRun, { runId }));
  if (run === undefined || run.status !== 'completed' || run.journal_format < JOURNAL_FORMAT_WITH_ACTIONS) return null;
  const asked = new Map<string, Question>();
  let firstAgent: string | null = null;
  for (const ofChain of await readChain(reads, runId)) {
    for (const row of await reads.all(getJournal, { runId: ofChain })) {
      if (row.kind === 'begin') continue;
      if (row.kind === 'model' && row.loop === '') firstAgent ??= row.agent;
      const { output, asks, allows, guardrails } = JSON.parse(row.record_json) as StepOutcome;
      for (const item of output) {
        if (item.kind === 'tool_output') asked.delete(item.callId);
        if (item.kind !== 'tool_call') continue;
        const kind = asks?.[item.callId];
        if (kind === undefined) continue;
        const { callId, agent, callerAgent, name: tool, text } = item;
        const change = guardrails?.calls?.[callId];
        const replaced = change !== undefined && 'argumentsText' in change ? change.argumentsText : text;
        const argumentsText = replaced.trim() === '' ? '{}' : replaced;
        const about = { callId, agent, callerAgent, tool, argumentsText, ...allows?.[callId] };
        asked.set(callId, { questionId: newId('qst'), kind, ...about });
      }
    }
  }
  if (asked.size === 0) return null;
  // If the run's chat was deleted, its steps still show it.
  const begins = parseExtras(run.extras_json).begins ?? firstAgent ?? run.agent;
  return { runId, agent: run.agent, ...(begins !== run.agent && { begins }), questions: [...asked.values()] };
}

/** The run and the runs that it continues, oldest first. */
async function readChain(reads: Reads, last: RunId): Promise<readonly RunId[]> {
  const runIds: RunId[] = [];
  for (let runId: RunId | null = last; runId !== null; ) {
    runIds.unshift(runId);
    runId = (await first(reads.all(continuedRun, { runId })))?.continues ?? null;
  }
  return runIds;
}

/** Records where questions were opened, so that a question's id finds the chat. */
export async function recordQuestions(
  tx: Tx,
  chat: { readonly chatKey: ChatKey; readonly integrationId: IntegrationId; readonly now: number },
  { runId, questions }: OpenQuestions,
): Promise<void> {
  const { chatKey, integrationId, now } = chat;
  await Promise.all(
    questions.map((question) =>
      tx.run(insertAskedQuestion, {
        questionId: question.questionId,
        chatKey,
        runId,
        callIdJson: JSON.stringify(question.callId),
        questionJson: JSON.stringify(question),
        integrationId,
        now,
      }),
    ),
  );
}
