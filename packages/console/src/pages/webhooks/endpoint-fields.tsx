import type { WebhookEndpoint } from '@runwire/client';
import { useState } from 'react';
import { InputError } from '../../app/errors.ts';
import { CheckField, type Fields, TextField } from '../../ui/form.tsx';
import { EVENT_TYPES } from './event-types.ts';

type Events = WebhookEndpoint['events'];

interface EndpointFieldsProps {
  /** The endpoint to change. Undefined for a new one. */
  readonly endpoint?: WebhookEndpoint;
}

/** A form's fields for a new endpoint, or for a change. */
export function EndpointFields({ endpoint }: EndpointFieldsProps) {
  const events = endpoint?.events ?? ['*'];
  const [isAll, setAll] = useState(events.includes('*'));
  return (
    <>
      <TextField
        label="Address"
        name="url"
        type="url"
        placeholder="https://example.com/hook"
        hint="https, and public unless the operator allows it with RUNWIRE_WEBHOOK_ALLOW. Without an address nothing is posted."
        defaultValue={endpoint?.url ?? ''}
        maxLength={2048}
        required={endpoint?.url !== null}
      />
      <TextField
        label="Description"
        name="description"
        hint="For people."
        defaultValue={endpoint?.description ?? ''}
        maxLength={500}
      />
      <fieldset className="stack-tight webhook-events">
        <legend>Events</legend>
        <div className="row">
          <label className="check">
            <input type="radio" name="which" value="all" checked={isAll} onChange={() => setAll(true)} />
            All, also types of later versions
          </label>
          <label className="check">
            <input type="radio" name="which" value="some" checked={!isAll} onChange={() => setAll(false)} />
            Only these
          </label>
        </div>
        {!isAll &&
          EVENT_TYPES.map(([type, about]) => (
            <CheckField key={type} label={type} name={type} hint={about} defaultChecked={events.includes(type)} />
          ))}
      </fieldset>
    </>
  );
}

/** Reads the fields as the API takes them. */
export function readEndpoint(fields: Fields): Pick<WebhookEndpoint, 'url' | 'description'> & { events: Events } {
  const chosen = EVENT_TYPES.flatMap(([type]) => (fields.checked(type) ? [type] : []));
  const events: Events = fields.text('which') === 'all' ? ['*'] : chosen;
  if (events.length === 0) throw new InputError('Choose at least one type of event.');
  return { url: fields.optional('url') ?? null, description: fields.optional('description') ?? null, events };
}
