import { operations } from '@runwire/contract/schemas';
import type { FastifyInstance } from 'fastify';
import { Refusal } from '../../domain/refusal.ts';
import { deletePath } from '../../files/delete-path.ts';
import type { Files } from '../../files/files.ts';
import { listFolder } from '../../files/list-folder.ts';
import { requestedFile } from '../../files/requested-path.ts';
import { answerHead, sendFile } from '../file-answer.ts';
import { chooseReading } from '../file-conditions.ts';
import { route } from '../route.ts';

/** Operations on an integration's files. A client token reaches only its folder (`http/client-access.ts`). */
export function fileRoutes(app: FastifyInstance, files: Files): void {
  route(app, operations.listFiles, async (request, _reply, { integrationId }) =>
    listFolder(files, integrationId, request.query, request.clientToken?.folder ?? undefined),
  );

  route(app, operations.headFileContent, async (request, reply, { integrationId }) => {
    const file = await files.find(integrationId, requestedFile('path', request.query.path));
    if (file === null) throw new Refusal('file_not_found');
    // RFC 9110, 14.2: "A server MUST ignore a Range header field received with a request method that is unrecognized or for
    // which range handling is not defined"; it is defined for GET alone.
    return answerHead(reply, file, chooseReading(file, { ...request.headers, range: undefined })).send();
  });

  route(app, operations.getFileContent, async (request, reply, { integrationId }) => {
    const file = await files.find(integrationId, requestedFile('path', request.query.path));
    if (file === null) throw new Refusal('file_not_found');
    const reading = chooseReading(file, request.headers);
    if (reading.kind === 'unchanged' || reading.kind === 'no-such-range')
      return answerHead(reply, file, reading).send();
    const opened = await files.open(file, reading.kind === 'part' ? reading.range : undefined);
    return sendFile(reply, opened, reading);
  });

  route(app, operations.deleteFile, async (request, reply, { integrationId }) => {
    await deletePath(files, integrationId, request.query, app.audit(request));
    return reply.code(204).send();
  });
}
