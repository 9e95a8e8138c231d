import type { Input, Member } from '@runwire/client';
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

/** The fields that differ from what the person saw. The server keeps all others as they are now. */
export function changedMemberFields(seen: Member, fields: Fields): MemberFields {
  const { name, ownLimit, metadata } = seen;
  const before = { name, allowance: ownLimit === null ? null : { limit: ownLimit }, metadata };
  return Object.fromEntries(
    Object.entries(readMemberFields(fields)).filter(
      ([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field as keyof MemberFields]),
    ),
  );
}

function readMetadata(json: string): Readonly<Record<string, unknown>> {
  if (json === '') return {};
  const value = parse(json);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new InputError('Metadata must be a JSON object, for example {"plan": "pro"}.', 'metadata');
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new InputError(`Metadata is not valid JSON: ${(error as Error).message}.`, 'metadata');
  }
}
