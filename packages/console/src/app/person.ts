import type { AnyRouter } from '@tanstack/react-router';
import { forgetToken } from './api.ts';
import { queryClient } from './query-client.ts';
import { unmark } from './session.ts';

const listeners = new Set<() => void>();

/** Calls the listener when a person leaves, so that nothing is left for the next one. */
export function onPersonLeaves(listener: () => void): void {
  listeners.add(listener);
}

/** Forgets the token and everything that was read. Called before another person may sign in, and after it. */
export function forgetPerson(): void {
  forgetToken();
  queryClient.clear();
  for (const listener of listeners) listener();
}

/** Shows the page for signing in. Unless the person asked for it, the next sign-in returns to the current page. */
export function leaveSession(router: AnyRouter, isAsked: boolean): void {
  unmark();
  forgetToken();
  // Errors of several requests arrive together, and the first has left the page already.
  if (router.state.location.pathname.endsWith('/sign-in')) return;
  const next: string = router.state.location.publicHref;
  void router.navigate({ to: '/sign-in', search: isAsked ? {} : { next }, ignoreBlocker: true }).then(forgetPerson);
}
