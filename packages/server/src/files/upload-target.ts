import type { MountPath } from '../domain/file/mount-path.ts';
import type { IntegrationId } from '../domain/ids.ts';
import type { SigningKey } from './post-policy/sign-form.ts';

/** The server that receives the forms, and the key that signs them: this server, or S3 itself. */
export interface UploadTarget {
  /** True if S3 receives the forms. What it received waits until a server settles it. */
  readonly isS3: boolean;
  /** `base` is the scheme, host and path under which the caller reaches this server, without a slash at the end. */
  url(integrationId: string, base: string): string;
  bucket(integrationId: IntegrationId): string;
  key(integrationId: IntegrationId, path: MountPath, formId: string): string;
  signingKey(): Promise<SigningKey>;
}
