import { operations } from '@runwire/contract/schemas';
import type { FastifyInstance } from 'fastify';
import type { IntegrationOwnership } from '../../accounts/owned-integration.ts';
import { Refusal } from '../../domain/refusal.ts';
import { deletePath } from '../../files/delete-path.ts';
import { listFolder } from '../../files/list-folder.ts';
import type { MountStore } from '../../files/mount-store.ts';
import { requestedFile } from '../../files/requested-path.ts';
import { answerHead, sendFile } from '../file-answer.ts';
import { readingOf } from '../file-conditions.ts';
import { route } from '../route.ts';

/** How often a file may be replaced between reading its metadata and opening it, before the answer is 503. */
const MAX_LOOKS = 5;

/** Operations on the files of an integration, for its owner. */
export function fileRoutes(app: FastifyInstance, ownership: IntegrationOwnership, mount: MountStore): void {
  route(app, operations.listFiles, async (request) => {
    const { apiIntegrationId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    return listFolder(mount, apiIntegrationId, request.query);
  });

  route(app, operations.headFileContent, async (request, reply) => {
    const { apiIntegrationId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    const file = await mount.find(apiIntegrationId, requestedFile('path', request.query.path));
    if (file === null) throw new Refusal('file_not_found');
    // RFC 9110, 14.2: "A server MUST ignore a Range header field received with a request method that is unrecognized or for
    // which range handling is not defined"; it is defined for GET alone.
    return answerHead(reply, file, readingOf(file, { ...request.headers, range: undefined })).send();
  });

  route(app, operations.getFileContent, async (request, reply) => {
    const { apiIntegrationId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    const path = requestedFile('path', request.query.path);
    for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
      const file = await mount.find(apiIntegrationId, path);
      if (file === null) throw new Refusal('file_not_found');
      const reading = readingOf(file, request.headers);
      if (reading.kind === 'unchanged' || reading.kind === 'no-such-range') {
        return answerHead(reply, file, reading).send();
      }
      const opened = await mount.open(apiIntegrationId, path, reading.kind === 'part' ? reading.range : undefined);
      if (opened === null) throw new Refusal('file_not_found');
      // The file was replaced in between: the decision about the old size would be wrong for the new file.
      if (opened.file.etag === file.etag && opened.file.size === file.size) return sendFile(reply, opened, reading);
      await opened[Symbol.asyncDispose]();
    }
    throw new Refusal(
      'unavailable',
      'The file was replaced again and again while it was read; try again in a moment.',
      {},
      1,
    );
  });

  route(app, operations.deleteFile, async (request, reply) => {
    const { apiIntegrationId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    await deletePath(mount, apiIntegrationId, request.query);
    return reply.code(204).send();
  });
}
