import { type Environment, prepareProcess } from '../config/read-config.ts';
import { rotateUploadSecret } from '../files/upload-secrets.ts';
import { openInstalledStore } from './open-installed-store.ts';

/** Makes a new secret for upload forms, which running servers use immediately. Resolves to the text for the operator. */
export async function rotateUploads(env: Environment): Promise<string> {
  const { config, secrets } = prepareProcess(env);
  await using stack = new AsyncDisposableStack();
  const store = await openInstalledStore(config, secrets, stack);
  const number = await rotateUploadSecret(store);
  if (config.s3?.uploads === 'direct') {
    return (
      'With S3_UPLOADS=direct the servers sign upload forms with their AWS credentials, and this command did not change those. ' +
      'To change them, create another access key at your S3, start all servers with it and delete the old key: its forms become invalid immediately. ' +
      `Forms that are posted to this server itself are signed with secret number ${number} from now on.`
    );
  }
  return `Upload forms are signed with secret number ${number} from now on; forms signed before stay valid until they expire, 15 minutes at most.`;
}
