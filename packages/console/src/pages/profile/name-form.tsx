import type { Me, UpdateMeRequest } from '@runwire/client';
import { useQueryClient } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { meQuery } from '../../app/queries.ts';
import { Form, TextField } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';

interface NameFormProps {
  readonly me: Pick<Me, 'name' | 'email'>;
}

export function NameForm({ me }: NameFormProps) {
  const client = useQueryClient();
  return (
    <section className="card stack" aria-labelledby="name-and-email">
      <h2 id="name-and-email">Name and e-mail</h2>
      <Form
        submitLabel="Save profile"
        pendingLabel="Saving…"
        onSubmit={async (fields) => {
          const name = fields.optional('name') ?? null;
          const email = fields.text('email');
          const changes: UpdateMeRequest = {
            ...(name === me.name ? {} : { name }),
            ...(email === (me.email ?? '') ? {} : { email }),
          };
          if (Object.keys(changes).length === 0) {
            notify('There is nothing to save: no field was changed.');
            return;
          }
          const saved = await api().me.update(changes);
          client.setQueryData(meQuery.queryKey, saved);
          notify('Your profile is saved.');
        }}
      >
        <TextField label="Name" name="name" defaultValue={me.name ?? ''} autoComplete="name" maxLength={200} />
        <TextField
          label="E-mail"
          name="email"
          type="email"
          defaultValue={me.email ?? ''}
          autoComplete="username"
          hint="You sign in with it."
          required
        />
      </Form>
    </section>
  );
}
