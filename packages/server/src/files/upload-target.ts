import type { MountPath } from '../domain/mount-path.ts';
import type { SigningKey } from './post-policy/sign-form.ts';

/** Where forms are sent, and with what they are signed: this server, or S3 itself. */
export interface UploadTarget {
  /** `base`: scheme, host and path by which the caller reaches this server, without a slash at its end. */
  url(integrationId: string, base: string): string;
  bucket(integrationId: string): string;
  key(integrationId: string, path: MountPath): string;
  signingKey(): Promise<SigningKey>;
}
