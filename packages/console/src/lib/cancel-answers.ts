import type { CancelResult } from '@runwire/client';

/** What the server answers when a person stops a run, in words. */
export const CANCEL_ANSWERS: Readonly<Record<CancelResult['status'], string>> = {
  cancelling: 'The server is stopping the run. It waits for the current call or step.',
  cancelled: 'The server stopped the run. The text so far is kept, and what was used is charged.',
  completed: 'The run had completed before it could be stopped.',
  failed: 'The run had failed before it could be stopped.',
};
