import { useRouter } from '@tanstack/react-router';
import { notify } from '../ui/toasts.tsx';
import { leaveSession } from './person.ts';
import { signOut } from './session.ts';

/** Returns a function that signs the person out in this browser. */
export function useSignOut(): () => Promise<void> {
  const router = useRouter();
  return async () => {
    try {
      await signOut();
      leaveSession(router, true);
    } catch {
      notify('The server does not answer, so you are still signed in. Sign out again when it answers.');
    }
  };
}
