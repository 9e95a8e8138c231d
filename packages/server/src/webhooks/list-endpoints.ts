import type { IntegrationId } from '../domain/ids.ts';
import { listEndpoints as listRows } from '../store/queries/webhook-endpoints.ts';
import { type ListQuery, readPage } from '../store/read-page.ts';
import type { EndpointDeps } from './endpoint-deps.ts';
import { endpointJson } from './endpoint-json.ts';

export const listEndpoints = ({ store }: Pick<EndpointDeps, 'store'>, integrationId: IntegrationId, query: ListQuery) =>
  readPage(
    store.reads,
    query,
    (page) => listRows(integrationId, page),
    (row) => ({ createdAt: row.created_at, id: row.endpoint_id }),
    endpointJson,
  );
