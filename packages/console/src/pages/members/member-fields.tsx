import type { Member } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { integrationQuery } from '../../app/queries.ts';
import { formatJson, formatNumber } from '../../lib/format.ts';
import { TextAreaField, TextField } from '../../ui/form.tsx';

interface MemberFieldsProps {
  readonly integration: string;
  readonly member?: Member;
}

/** The fields that are the same for a new member and for a change. */
export function MemberFields({ integration, member }: MemberFieldsProps) {
  const { data } = useQuery(integrationQuery(integration));
  const metadata = member === undefined || Object.keys(member.metadata).length === 0 ? '' : formatJson(member.metadata);
  return (
    <>
      <TextField
        label="Name"
        name="name"
        hint="For people. May be empty."
        maxLength={200}
        defaultValue={member?.name ?? ''}
      />
      <TextField
        label="Own limit"
        name="ownLimit"
        type="number"
        min={0}
        step={1}
        hint={limitHint(data?.allowances)}
        defaultValue={member?.ownLimit ?? ''}
      />
      <TextAreaField
        label="Metadata"
        name="metadata"
        hint="A JSON object with data of your own, at most 16 KiB. May be empty."
        rows={4}
        isCode
        defaultValue={metadata}
      />
    </>
  );
}

interface Setting {
  readonly unit: string;
  readonly limit: number;
  readonly period: string;
}

function limitHint(setting: Setting | null | undefined): string {
  if (setting === undefined) return 'If empty, the limit of the integration applies.';
  if (setting === null) return 'Has an effect when the integration has allowances. They are off now.';
  const { unit, limit, period } = setting;
  const span = period === 'lifetime' ? 'for the whole life of the member' : `per ${period}`;
  return `In ${unit}. If empty, the limit of the integration applies: ${formatNumber(limit)} ${unit} ${span}.`;
}
