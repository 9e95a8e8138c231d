import type { CreateAgencyUploadRequest } from '@runwire/contract';
import { operations } from '@runwire/contract/schemas';
import type { FastifyInstance } from 'fastify';
import { mediaTypeProblem } from '../../domain/file/media-type.ts';
import { checkFilePath, checkFolderPath, filenameProblem, type MountPath } from '../../domain/file/mount-path.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { UploadSigning } from '../../files/sign-upload.ts';
import { callersBase } from '../callers-base.ts';
import { type RequestOf, route } from '../route.ts';

export interface CreateAgencyUploadDeps {
  readonly signing: UploadSigning;
  readonly publicUrl: string | null;
}

/** Checks in the order 401 · 400 · 404 · 403 (`contract-3-upload`), then the quota. */
export function createAgencyUpload(app: FastifyInstance, deps: CreateAgencyUploadDeps): void {
  const read = (request: RequestOf<typeof operations.createAgencyUpload>) => ({
    path: checkedPath(request.body),
    base: callersBase(request, deps.publicUrl),
  });
  route(
    app,
    operations.createAgencyUpload,
    async ({ body }, _reply, { integrationId }, { path, base }) => {
      const { folder, filename, contentType, sizeBytes } = body;
      const signed = await deps.signing.sign({ integrationId, path, contentType, sizeBytes, base });
      return { resource: `${folder}/${filename}`, ...signed };
    },
    { read },
  );
}

function checkedPath({ folder, filename, contentType }: CreateAgencyUploadRequest): MountPath {
  const inFolder = checkFolderPath(folder);
  if ('problem' in inFolder) throw refused('`folder`', inFolder.problem);
  const inName = filenameProblem(filename);
  if (inName !== null) throw refused('`filename`', inName);
  const whole = checkFilePath(`${folder}/${filename}`);
  if ('problem' in whole) throw refused('`folder` and `filename` together', whole.problem);
  const inType = mediaTypeProblem(contentType);
  if (inType !== null) throw refused('`contentType`', inType);
  return whole.below;
}

const refused = (field: string, problem: string) => new Refusal('invalid_request', `${field} ${problem}.`);
