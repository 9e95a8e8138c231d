/*
 * The id of a call that waits for the caller is `call_` and the rest of its question's id. So it names the question, and
 * the question its chat: a client without a chat id continues with the id alone.
 */

const QUESTION = 'qst_';
const CALL = 'call_';

export const toCallId = (questionId: string): string => CALL + questionId.slice(QUESTION.length);

/** Returns null if no question can have this call. Ids of other calls are the journal's, and begin with `call_` too. */
export const toQuestionId = (callId: string): string | null =>
  callId.startsWith(CALL) ? QUESTION + callId.slice(CALL.length) : null;
