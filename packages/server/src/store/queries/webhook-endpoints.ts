import { type Kysely, sql } from 'kysely';
import type { IntegrationId } from '../../domain/ids.ts';
import type { DisabledReason } from '../../domain/webhook.ts';
import { GENERATION_WITH_WEBHOOKS } from '../generation.ts';
import { NODE_ALIVE, type Schema } from '../schema.ts';
import { insertInto, type RowOf, statement } from '../statement.ts';
import { getPage, type Page } from './page.ts';

export const insertEndpoint = insertInto('webhook_endpoints', [
  'endpoint_id',
  'integration_id',
  'url',
  'events',
  'description_json',
  'active',
  'disabled_reason',
  'failing_since',
  'secret_number',
  'rotated_at',
  'created_at',
  'updated_at',
]);

export const endpointById = statement(
  'webhook endpoint by id',
  (db, p: { integrationId: IntegrationId; endpointId: string }) =>
    db
      .selectFrom('webhook_endpoints')
      .selectAll()
      .where('endpoint_id', '=', p.endpointId)
      .where('integration_id', '=', p.integrationId),
);

export type EndpointRow = RowOf<typeof endpointById>;

export const countEndpoints = statement('count webhook endpoints', (db, p: { integrationId: IntegrationId }) =>
  db
    .selectFrom('webhook_endpoints')
    .select(sql<number>`count(*)`.as('count'))
    .where('integration_id', '=', p.integrationId),
);

/** What an event needs to know of the endpoints of its integration. */
export const endpointsForEvents = statement('webhook endpoints for events', (db, p: { integrationId: IntegrationId }) =>
  db
    .selectFrom('webhook_endpoints')
    .select(['endpoint_id', 'url', 'events', 'active'])
    .where('integration_id', '=', p.integrationId),
);

/** The integrations that have endpoints. */
export const integrationsWithEndpoints = statement('integrations with webhook endpoints', (db, _: object) =>
  db.selectFrom('webhook_endpoints').select('integration_id').distinct(),
);

/** The integrations of an agency that have endpoints. */
export const integrationsOfAgency = statement('integrations of agency with webhooks', (db, p: { agency: string }) =>
  db
    .selectFrom('webhook_endpoints')
    .innerJoin('integrations', 'integrations.integration_id', 'webhook_endpoints.integration_id')
    .select('integrations.integration_id')
    .where('integrations.agency', '=', p.agency)
    .where('integrations.deleted_at', 'is', null)
    .distinct(),
);

export const listEndpoints = (integrationId: IntegrationId, page: Page) => (db: Kysely<Schema>) =>
  getPage(
    db.selectFrom('webhook_endpoints').selectAll().where('integration_id', '=', integrationId),
    page,
    'created_at',
    'endpoint_id',
  );

export const updateEndpoint = statement(
  'update webhook endpoint',
  (
    db,
    p: {
      endpointId: string;
      url: string | null;
      events: string;
      descriptionJson: string | null;
      active: number;
      disabledReason: DisabledReason | null;
      failingSince: number | null;
      now: number;
    },
  ) =>
    db
      .updateTable('webhook_endpoints')
      .set({
        url: p.url,
        events: p.events,
        description_json: p.descriptionJson,
        active: p.active,
        disabled_reason: p.disabledReason,
        failing_since: p.failingSince,
        updated_at: p.now,
      })
      .where('endpoint_id', '=', p.endpointId),
);

export const rotateEndpoint = statement(
  'rotate webhook endpoint',
  (db, p: { integrationId: IntegrationId; endpointId: string; now: number }) =>
    db
      .updateTable('webhook_endpoints')
      .set((eb) => ({ secret_number: eb('secret_number', '+', 1), rotated_at: p.now, updated_at: p.now }))
      .where('endpoint_id', '=', p.endpointId)
      .where('integration_id', '=', p.integrationId),
);

export const deleteEndpoint = statement(
  'delete webhook endpoint',
  (db, p: { integrationId: IntegrationId; endpointId: string }) =>
    db
      .deleteFrom('webhook_endpoints')
      .where('endpoint_id', '=', p.endpointId)
      .where('integration_id', '=', p.integrationId),
);

export const deleteEndpointsOfIntegration = statement(
  'delete webhook endpoints of integration',
  (db, p: { integrationId: IntegrationId }) =>
    db.deleteFrom('webhook_endpoints').where('integration_id', '=', p.integrationId),
);

/** A node that stores no events. */
export const nodeWithoutWebhooks = statement('node without webhooks', (db, _: object) =>
  db
    .selectFrom('nodes')
    .select('node_id')
    .where('dead', '=', NODE_ALIVE)
    .where('generation', '<', sql.lit(GENERATION_WITH_WEBHOOKS))
    .limit(1),
);
