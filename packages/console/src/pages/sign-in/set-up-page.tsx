import { Link, useNavigate } from '@tanstack/react-router';
import { InputError } from '../../app/errors.ts';
import { forgetPerson } from '../../app/person.ts';
import { setUp } from '../../app/session.ts';
import { forgetSetUpSecret, setUpSecret } from '../../app/set-up-link.ts';
import { Form, TextField } from '../../ui/form.tsx';
import { AlonePage } from './alone-page.tsx';

/** Opened by a set-up link: sets the e-mail and an owner's password, and signs in. */
export function SetUpPage() {
  const navigate = useNavigate();
  const link = setUpSecret();
  if (link === null) {
    return (
      <AlonePage title="Set up your account" lead="This page needs the set-up link: open the whole link again.">
        <Link to="/sign-in">Sign in instead</Link>
      </AlonePage>
    );
  }
  return (
    <AlonePage title="Set up your account" lead="Choose the e-mail and the password with which you will sign in.">
      <Form
        isGuarded={false}
        submitLabel="Set password and sign in"
        pendingLabel="Signing in…"
        onSubmit={async (fields) => {
          const password = fields.exact('password');
          if (password !== fields.exact('repeated'))
            throw new InputError('Both passwords must be the same.', 'repeated');
          await setUp({ link, email: fields.text('email'), password });
          forgetSetUpSecret();
          forgetPerson();
          await navigate({ to: '/' });
        }}
      >
        <TextField label="E-mail" name="email" type="email" autoComplete="username" required />
        <TextField
          label="Password"
          name="password"
          type="password"
          autoComplete="new-password"
          hint="12 to 1024 characters, at least 8 different ones, and not your e-mail."
          required
        />
        <TextField label="Repeat the password" name="repeated" type="password" autoComplete="new-password" required />
      </Form>
    </AlonePage>
  );
}
