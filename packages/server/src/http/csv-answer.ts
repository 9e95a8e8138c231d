import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { Refusal } from '../domain/refusal.ts';

/** A CSV has no pages. */
export function refusePaging({ limit, cursor }: { readonly limit?: number; readonly cursor?: string }): void {
  if (limit === undefined && cursor === undefined) return;
  throw new Refusal(
    'invalid_request',
    '`format=csv` returns everything in one answer; leave out `limit` and `cursor`.',
  );
}

/** The first page is read before the head is sent, so that an unreadable store is still an error status. */
export async function sendCsv(reply: FastifyReply, name: string, pages: AsyncGenerator<string>): Promise<FastifyReply> {
  const first = await pages.next();
  const text = Readable.from(prepend(first.value ?? '', pages), { objectMode: false, highWaterMark: 64 * 1024 });
  return reply
    .type('text/csv; charset=utf-8; header=present')
    .header('content-disposition', `attachment; filename="${name}.csv"`)
    .send(text);
}

async function* prepend(first: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}
