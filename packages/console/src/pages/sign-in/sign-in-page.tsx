import { useRouter, useSearch } from '@tanstack/react-router';
import { consoleUrl } from '../../app/addresses.ts';
import { forgetPerson } from '../../app/person.ts';
import { signIn } from '../../app/session.ts';
import { Form, TextField } from '../../ui/form.tsx';
import { AlonePage } from './alone-page.tsx';

export function SignInPage() {
  const router = useRouter();
  const { next } = useSearch({ from: '/sign-in' });
  const isReturn = next?.startsWith(consoleUrl.pathname) ?? false;
  return (
    <AlonePage
      title="Sign in"
      {...(isReturn && next !== consoleUrl.pathname
        ? { lead: 'Sign in to continue to the page that you opened.' }
        : {})}
    >
      <Form
        isGuarded={false}
        submitLabel="Sign in"
        pendingLabel="Signing in…"
        onSubmit={async (fields) => {
          await signIn({ email: fields.text('email'), password: fields.exact('password') });
          forgetPerson();
          if (isReturn && next !== undefined) router.history.push(next);
          else await router.navigate({ to: '/' });
        }}
      >
        <TextField label="E-mail" name="email" type="email" autoComplete="username" required />
        <TextField label="Password" name="password" type="password" autoComplete="current-password" required />
      </Form>
      <p className="small muted">
        No password yet, or forgotten? The operator of this server makes a set-up link with{' '}
        <code>runwire owners link</code>.
      </p>
    </AlonePage>
  );
}
