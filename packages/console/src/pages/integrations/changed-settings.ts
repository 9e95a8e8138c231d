import type { AllowanceSetting, Integration, UpdateIntegrationRequest } from '@runwire/client';
import type { Fields } from '../../ui/form.tsx';

/** In the order in which the server names them, so that two lists can be compared as JSON. */
export const COMPATIBLE_APIS: readonly {
  readonly name: Integration['compatibleApis'][number];
  readonly label: string;
}[] = [
  { name: 'openai', label: 'OpenAI' },
  { name: 'ai-sdk', label: 'AI SDK' },
  { name: 'ag-ui', label: 'AG-UI' },
  { name: 'mcp', label: 'MCP' },
  { name: 'agency-swarm', label: 'agency-swarm' },
];

/** The choice that switches allowances off. */
export const NO_ALLOWANCES = 'none';

/** Always in the same order, so that two of them can be compared as JSON. */
const getAllowance = ({ unit, limit, period }: AllowanceSetting): AllowanceSetting => ({ unit, limit, period });

function allowancesIn(fields: Fields): AllowanceSetting | null {
  const unit = fields.text('unit');
  if (unit === NO_ALLOWANCES) return null;
  return {
    unit: unit as AllowanceSetting['unit'],
    limit: fields.number('limit') ?? 0,
    period: fields.text('period') as AllowanceSetting['period'],
  };
}

/** The settings as the form has them. */
function settingsIn(fields: Fields): Required<UpdateIntegrationRequest> {
  return {
    name: fields.text('name'),
    agency: fields.exact('agency'),
    defaultAgent: fields.exact('defaultAgent'),
    model: fields.optional('model') ?? null,
    textOnly: fields.checked('textOnly'),
    allowances: allowancesIn(fields),
    maxRunsPerMember: fields.number('maxRunsPerMember'),
    maxRunSeconds: fields.number('maxRunSeconds'),
    onDisconnect: fields.text('onDisconnect') as Integration['onDisconnect'],
    fileAccess: fields.text('fileAccess') as Integration['fileAccess'],
    memberFolder: fields.text('memberFolder'),
    quotaBytes: fields.number('quotaBytes'),
    memberQuotaBytes: fields.number('memberQuotaBytes'),
    keepAttachments: fields.checked('keepAttachments'),
    clientTools: fields.checked('clientTools'),
    callerInstructions: fields.checked('callerInstructions'),
    autoRegister: fields.checked('autoRegister'),
    compatibleApis: COMPATIBLE_APIS.flatMap(({ name }) => (fields.checked(`compatibleApis.${name}`) ? [name] : [])),
  };
}

/** The fields that differ from what the person saw. The server keeps all others as they are now. */
export function changedSettings(seen: Integration, fields: Fields): UpdateIntegrationRequest {
  const before = {
    ...seen,
    name: seen.name?.trim() ?? '',
    defaultAgent: seen.defaultAgent ?? '',
    allowances: seen.allowances && getAllowance(seen.allowances),
  };
  const settings = settingsIn(fields);
  const changed = Object.entries(settings).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof UpdateIntegrationRequest]),
  );
  const { agency, defaultAgent } = settings;
  // Without it the server takes the other agency's default, also if that has an entry point of the same name.
  const ofOtherAgency = agency !== seen.agency && defaultAgent !== '' ? { defaultAgent } : {};
  return { ...Object.fromEntries(changed), ...ofOtherAgency };
}
