import type { CreateAgencyUploadRequest } from '@runwire/contract';
import { operations } from '@runwire/contract/schemas';
import type { FastifyInstance } from 'fastify';
import type { IntegrationOwnership } from '../../accounts/owned-integration.ts';
import { mediaTypeProblem } from '../../domain/media-type.ts';
import { checkFilePath, checkFolderPath, filenameProblem, type MountPath } from '../../domain/mount-path.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { UploadSigning } from '../../files/sign-upload.ts';
import { callersBase } from '../callers-base.ts';
import { route } from '../route.ts';

export interface CreateAgencyUploadDeps {
  readonly ownership: IntegrationOwnership;
  readonly signing: UploadSigning;
  readonly publicUrl: string | null;
}

/** Checks in the order 401 · 400 · 404 · 403 (`contract-3-upload`), then the quota. */
export function createAgencyUpload(app: FastifyInstance, deps: CreateAgencyUploadDeps): void {
  route(app, operations.createAgencyUpload, async (request) => {
    const { apiIntegrationId, folder, filename, contentType, sizeBytes } = request.body;
    const path = checkedPath(request.body);
    const base = callersBase(request, deps.publicUrl);
    await deps.ownership.check(request.principal, apiIntegrationId);
    const signed = await deps.signing.sign({ integrationId: apiIntegrationId, path, contentType, sizeBytes, base });
    return { resource: `${folder}/${filename}`, ...signed };
  });
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
