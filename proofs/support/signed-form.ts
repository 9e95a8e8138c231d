import type { ApiClient } from '@runwire/test-kit';
import { expectNumber } from './proof.ts';

export interface SignedForm {
  readonly resource: string;
  readonly uploadUrl: string;
  readonly uploadFields: Readonly<Record<string, string>>;
}

export interface FileToSign {
  readonly folder: string;
  readonly filename: string;
  readonly contentType: string;
  readonly sizeBytes: number;
}

export async function signed(api: ApiClient, file: FileToSign): Promise<SignedForm> {
  const { status, body } = await api.post('/create_agency_upload', { apiIntegrationId: 'demo', ...file });
  expectNumber('status of a signing', status, 200);
  return body;
}
