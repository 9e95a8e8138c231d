import { named, nullable, oneOfStrings, recordSchema, text, time, toList } from './kit.ts';
import { Type } from './type.ts';

/** Any JSON value. */
const freeValue = (description: string) => Type.Unsafe<unknown>({ description });

export const AuditEvent = named(
  'AuditEvent',
  Type.Object(
    {
      eventId: text('Identifier of the event.'),
      at: time('When the change was made.'),
      actor: Type.Object(
        {
          kind: oneOfStrings(['person', 'key', 'client_token'], { description: 'Who sent the request.' }),
          id: nullable(
            text('Identifier of the person or key, or the member of a client token. Null for `RUNWIRE_API_KEY`.'),
          ),
          name: nullable(text('Name at that time; of a person without a name the e-mail address.')),
        },
        { description: 'Who made the change.' },
      ),
      operation: text('Operation id of the request.'),
      target: text('What was changed: `<kind>:<id>`, such as `key:key_1` or `member:user-42`.'),
      apiIntegrationId: nullable(text('The integration of the target. Null if it has none.')),
      changes: nullable(
        recordSchema(
          Type.Object(
            {
              before: freeValue('Value before the change. Null if there was none.'),
              after: freeValue('Value after the change. Null if there is none.'),
            },
            { description: 'One changed field.' },
          ),
          {
            description: 'The changed fields, without secrets and texts of messages. Null if there is nothing to show.',
          },
        ),
      ),
      requestId: nullable(text('`X-Request-Id` of the request.')),
      address: nullable(text('Address of the client. Null if it is not known, and after an erasure.')),
    },
    { description: 'A change that a person, a key or a client token made.' },
  ),
);

export const AuditEventList = toList('AuditEventList', AuditEvent);
