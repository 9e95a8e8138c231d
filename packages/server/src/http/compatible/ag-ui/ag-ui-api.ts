import type { CompatibleApi } from '../compatible-api.ts';

export const AG_UI: CompatibleApi = {
  name: 'ag-ui',
  path: '/ag-ui',
  memberField: '`forwardedProps.consumerId`, or the header `X-Runwire-Consumer-Id`,',
  contextField: '`state`, `context` and `forwardedProps` together',
};
