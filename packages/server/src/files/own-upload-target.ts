import type { Store } from '../store/store.ts';
import { UploadSecrets } from './upload-secrets.ts';
import type { UploadTarget } from './upload-target.ts';

/** Forms that are sent to this server. The bucket is the integration, the key is the path below its mount. */
export function ownUploadTarget(store: Store, secret: string): UploadTarget {
  const secrets = new UploadSecrets(store, secret);
  return {
    isS3: false,
    url: (integrationId, base) => `${base}/uploads/${integrationId}`,
    bucket: (integrationId) => integrationId,
    key: (_integrationId, path) => path,
    signingKey: () => secrets.current(),
  };
}
