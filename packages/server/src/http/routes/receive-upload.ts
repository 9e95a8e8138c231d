import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { IntegrationId } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import { StoreUnavailable } from '../../domain/unavailable.ts';
import type { WaitAt } from '../../domain/wait-points.ts';
import { PathTaken } from '../../files/change-files.ts';
import { FormClosed } from '../../files/closed-folders.ts';
import type { Files } from '../../files/files.ts';
import { type checkForm, expired } from '../../files/post-policy/check-form.ts';
import { checkedBytes } from '../../files/post-policy/checked-bytes.ts';
import { readFields } from '../../files/post-policy/form-fields.ts';
import { errorXml, S3Error } from '../../files/post-policy/s3-error.ts';
import { successAnswer } from '../../files/post-policy/success.ts';
import type { UploadSecrets } from '../../files/upload-secrets.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { throwAway } from '../body/discarded-body.ts';
import { type FormTimes, MultipartForm } from '../body/multipart-form.ts';
import { exemptFromDeadlines } from '../body/request-deadlines.ts';
import { knownBase } from '../callers-base.ts';
import { UPLOAD_PATH } from '../paths.ts';
import { toTrace } from '../request-id.ts';

export interface ReceiveUploadDeps {
  readonly files: Pick<Files, 'upload'>;
  readonly secrets: UploadSecrets;
  /** Resolves to null if there is none. */
  readonly findIntegration: (bucket: string) => Promise<IntegrationId | null>;
  readonly checkForm: typeof checkForm;
  /** Scheme, host and path by which callers reach this server. Null: those of each request. */
  readonly publicUrl: string | null;
  readonly limits: FormTimes & { readonly uploadGraceMs: number };
  readonly waitAt: WaitAt | undefined;
  readonly logger: Logger;
}

type Params = { readonly apiIntegrationId: string };
type Request = FastifyRequest<{ Params: Params }>;

/** "CORS for any origin, without credentials." */
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Location, x-amz-request-id, x-amz-id-2',
};
const PREFLIGHT = {
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': '*',
  'access-control-max-age': '3000',
};
const ALLOWED = 'POST, OPTIONS';

/**
 * Receives signed forms, without a key and with the answers of S3. It handles the request before Fastify looks at the
 * body, because no parser may read it.
 */
export function receiveUpload(app: FastifyInstance, deps: ReceiveUploadDeps): void {
  const url = UPLOAD_PATH;
  const schema = { hide: true };
  const handler = () => {};

  app.route<{ Params: Params }>({
    method: 'POST',
    url,
    schema,
    handler,
    onRequest: async (request, reply) => {
      exemptFromDeadlines(request.raw);
      amazonHeaders(request, reply);
      try {
        await receive(deps, request, reply);
      } catch (error) {
        throwAway(request.raw, deps.limits);
        answerXml(asS3Error(error, request, deps.logger), request, reply);
      }
      return reply;
    },
  });
  app.route({
    method: 'OPTIONS',
    url,
    schema,
    handler,
    onRequest: async (request, reply) => {
      amazonHeaders(request, reply);
      return reply.headers(PREFLIGHT).code(200).send();
    },
  });
  app.route<{ Params: Params }>({
    method: ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH'],
    url,
    schema,
    handler,
    onRequest: async (request, reply) => {
      amazonHeaders(request, reply).header('allow', ALLOWED);
      throwAway(request.raw, deps.limits);
      const details = { Method: request.method, ResourceType: 'BUCKET', AllowedMethods: ALLOWED };
      return answerXml(new S3Error('MethodNotAllowed', undefined, details), request, reply);
    },
  });
}

async function receive(deps: ReceiveUploadDeps, request: Request, reply: FastifyReply): Promise<void> {
  const { files, secrets, limits, waitAt } = deps;
  const bucket = request.params.apiIntegrationId;
  using form = new MultipartForm(request.raw, limits);
  const signed = readFields(await form.head, secrets.region);
  const key = await secrets.find(signed.signing.accessKeyId);
  const allowed = deps.checkForm(signed, key, bucket, Date.now());
  // As in S3, an upload continues when its form expires. It has a limit, because the quota counts the form until then.
  form.endAt(allowed.expiresAt + limits.uploadGraceMs, expired());
  // Checked after the form, so that a caller without a form of ours cannot learn which integrations exist.
  const integrationId = await deps.findIntegration(bucket);
  if (integrationId === null) throw new S3Error('NoSuchBucket', undefined, { BucketName: bucket });
  const { path, fields } = allowed;
  const { etag } = await files.upload(integrationId, allowed, checkedBytes(form.bytes(), allowed));
  waitAt?.('upload-answer.before');
  reply.raw.once('finish', () => waitAt?.('upload-answer.after'));
  // S3 encodes the slashes of the key too.
  const location = `${knownBase(request, deps.publicUrl) ?? ''}/uploads/${bucket}/${encodeURIComponent(path)}`;
  const { status, headers, body } = successAnswer(fields, { bucket, key: path, etag, location });
  reply.code(status).headers(headers);
  if (body !== null) reply.type('application/xml');
  reply.send(body ?? undefined);
}

function amazonHeaders(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.headers({ ...CORS, 'x-amz-request-id': request.id, 'x-amz-id-2': request.id });
}

function asS3Error(error: unknown, request: FastifyRequest, logger: Logger): S3Error {
  const trace = toTrace(request);
  if (error instanceof S3Error) {
    logger.debug({ ...trace, code: error.code }, 'upload refused');
    return error;
  }
  if (error instanceof Refusal) return new S3Error('NoSuchBucket');
  if (error instanceof FormClosed) return expired();
  if (error instanceof PathTaken) return new S3Error('NameConflict', error.message);
  if (error instanceof StoreUnavailable) return new S3Error('ServiceUnavailable');
  logger.error({ err: error, ...trace, path: UPLOAD_PATH }, 'fault');
  return new S3Error('InternalError');
}

function answerXml(error: S3Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error.code === 'ServiceUnavailable') reply.header('retry-after', '1');
  if (error.code === 'RequestTimeout') reply.header('connection', 'close');
  return reply
    .code(error.status)
    .type('application/xml')
    .send(errorXml(error, request.id, request.id));
}
