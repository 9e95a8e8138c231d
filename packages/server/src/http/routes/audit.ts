import { operations } from '@runwire/contract/schemas';
import type { PageTurns } from '@runwire/lib/page-turns.ts';
import type { FastifyInstance } from 'fastify';
import type { AuditLog } from '../../audit/audit-log.ts';
import { refusePaging, sendCsv } from '../csv-answer.ts';
import { ownersQuery, route } from '../route.ts';

export function auditRoutes(app: FastifyInstance, log: AuditLog, turns: PageTurns): void {
  route(app, operations.listAudit, async (request, reply) => {
    const { ownerId } = request.principal;
    const { format, ...filter } = request.query;
    if (format !== 'csv') return log.list(ownersQuery(request));
    refusePaging(filter);
    return sendCsv(
      reply,
      'audit',
      log.csv(() => turns.take(ownerId), ownerId, filter),
    );
  });
}
