import { operations } from '@runwire/contract/schemas';
import type { FastifyInstance } from 'fastify';
import type { AuditLog } from '../../audit/audit-log.ts';
import { refusePaging, sendCsv } from '../csv-answer.ts';
import { route } from '../route.ts';

export function auditRoutes(app: FastifyInstance, log: AuditLog): void {
  route(app, operations.listAudit, async ({ principal, query }, reply) => {
    const { format, ...filter } = query;
    if (format !== 'csv') return log.list(principal, filter);
    refusePaging(filter);
    return sendCsv(reply, 'audit', log.csv(principal, filter));
  });
}
