import type { Input } from '@runwire/client';
import { InputError } from '../../app/errors.ts';
import type { Fields } from '../../ui/form.tsx';

type MemberFields = Pick<
  Input<'PUT /v2/integrations/:apiIntegrationId/members/:consumerId'>,
  'name' | 'allowance' | 'metadata'
>;

/** Reads what `MemberFields` shows. An empty field removes the value. */
export function readMemberFields(fields: Fields): MemberFields {
  const limit = fields.number('ownLimit');
  return {
    name: fields.text('name') || null,
    allowance: limit === null ? null : { limit },
    metadata: readMetadata(fields.text('metadata')),
  };
}

function readMetadata(json: string): Readonly<Record<string, unknown>> {
  if (json === '') return {};
  const value = parse(json);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new InputError('Metadata must be a JSON object, for example {"plan": "pro"}.');
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new InputError(`Metadata is not valid JSON: ${(error as Error).message}.`);
  }
}
