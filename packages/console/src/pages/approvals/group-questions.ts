import type { AskedQuestion } from '@runwire/client';

/** The questions that one run asked in one chat. They are answered together. */
export interface QuestionGroup {
  readonly key: string;
  readonly questions: readonly [AskedQuestion, ...AskedQuestion[]];
}

/** Groups a list of questions, which is newest first. The last group may be incomplete while the list has more pages. */
export function groupQuestions(list: readonly AskedQuestion[], hasMore: boolean): readonly QuestionGroup[] {
  const groups = new Map<string, [AskedQuestion, ...AskedQuestion[]]>();
  for (const question of list) {
    const { apiIntegrationId, chatId, runId } = question;
    // A fork asks again what a run of another chat asked.
    const key = JSON.stringify([apiIntegrationId, chatId, runId]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [question]);
    else group.push(question);
  }
  const found = [...groups].map(([key, questions]) => ({ key, questions }));
  return hasMore && found.length > 1 ? found.slice(0, -1) : found;
}
