import { RunwireError } from '@runwire/client';
import { useRef } from 'react';
import { InputError } from '../../app/errors.ts';
import { changePassword } from '../../app/session.ts';
import { Form, TextField } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';

interface PasswordFormProps {
  readonly email: string | null;
}

export function PasswordForm({ email }: PasswordFormProps) {
  const inputs = useRef<HTMLDivElement>(null);
  return (
    <section className="card stack" aria-labelledby="password">
      <div className="stack-tight">
        <h2 id="password">Password</h2>
        <p className="muted">A new password ends your other sessions. This one continues.</p>
      </div>
      <Form
        isGuarded={false}
        submitLabel="Change password"
        pendingLabel="Changing…"
        onSubmit={async (fields) => {
          const password = fields.exact('new');
          if (password !== fields.exact('repeated'))
            throw new InputError('Both new passwords must be the same.', 'repeated');
          await changePassword({ current: fields.exact('current'), new: password }).catch((error: unknown) => {
            const isWrong = error instanceof RunwireError && error.code === 'invalid_sign_in';
            throw isWrong ? new InputError('The current password is wrong.', 'current') : error;
          });
          inputs.current?.closest('form')?.reset();
          notify('Your password is changed.');
        }}
      >
        {/* Password managers need to know whose password it is. */}
        <input type="text" name="username" autoComplete="username" value={email ?? ''} readOnly hidden />
        <div ref={inputs} className="stack">
          <TextField label="Current password" name="current" type="password" autoComplete="current-password" required />
          <TextField
            label="New password"
            name="new"
            type="password"
            autoComplete="new-password"
            hint="12 to 1024 characters, at least 8 different ones, and not your e-mail."
            required
          />
          <TextField
            label="Repeat the new password"
            name="repeated"
            type="password"
            autoComplete="new-password"
            required
          />
        </div>
      </Form>
    </section>
  );
}
