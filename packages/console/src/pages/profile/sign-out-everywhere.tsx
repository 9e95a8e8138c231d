import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { leaveSession } from '../../app/person.ts';
import { signOutEverywhere } from '../../app/session.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';

export function SignOutEverywhere() {
  const router = useRouter();
  const [isOpen, setOpen] = useState(false);
  return (
    <section className="card stack" aria-labelledby="sessions">
      <div className="stack-tight">
        <h2 id="sessions">Sessions</h2>
        <p className="muted">Sign out everywhere if you lost a device. Your API keys keep working.</p>
      </div>
      <div>
        <button type="button" className="button button-danger" onClick={() => setOpen(true)}>
          Sign out everywhere
        </button>
      </div>
      {isOpen && (
        <ConfirmDialog
          title="Sign out everywhere?"
          action="Sign out everywhere"
          pendingLabel="Signing out…"
          onClose={() => setOpen(false)}
          onConfirm={async () => {
            await signOutEverywhere();
            leaveSession(router, true);
          }}
        >
          <p>All your sessions end, in every browser, also this one. You sign in again with your password.</p>
        </ConfirmDialog>
      )}
    </section>
  );
}
