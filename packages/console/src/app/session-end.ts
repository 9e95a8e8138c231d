import type { AnyRouter } from '@tanstack/react-router';
import { forgetToken } from './api.ts';
import { queryClient } from './query-client.ts';
import { unmark } from './session.ts';

/**
 * Shows the page for signing in, and forgets everything that was read. Unless the person asked for it, the next sign-in
 * returns to the current page.
 */
export function leaveSession(router: AnyRouter, isAsked: boolean): void {
  unmark();
  forgetToken();
  const next: string = router.state.location.publicHref;
  // Errors of several requests arrive together, and the first has left the page already.
  const search = isAsked || router.state.location.pathname.endsWith('/sign-in') ? {} : { next };
  void router.navigate({ to: '/sign-in', search }).then(() => queryClient.clear());
}
