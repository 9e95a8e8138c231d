import { readFileSync } from 'node:fs';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

export interface PolicyDocument {
  readonly expiration?: string;
  readonly conditions?: readonly Json[];
}

export interface CephCase {
  readonly id: string;
  readonly requests: readonly {
    readonly expectStatus: number;
    readonly fields: readonly {
      readonly name: string;
      readonly value?: string;
      readonly repeat?: { readonly unit: string; readonly bytes: number };
    }[];
    readonly policy: PolicyDocument | null;
  }[];
  readonly applies: 'yes' | 'adapt' | 'no';
}

export interface FileOp {
  readonly text?: string;
  readonly repeat?: string;
  readonly bytes?: number;
  readonly filename?: string;
  readonly no_filename?: boolean;
  readonly filename_star?: string;
  readonly disposition?: string;
}

/** What is changed about the base form; each object has one of these. */
export interface Op {
  readonly 'policy.expiration'?: string;
  readonly 'x-amz-date'?: string;
  readonly append_after_final_boundary?: string;
  readonly append_part_after_file?: { readonly name: string; readonly filename: string; readonly text: string };
  readonly boundary_quoted?: boolean;
  readonly bucket?: string;
  readonly conditions_add?: readonly Json[];
  readonly conditions_drop?: string;
  readonly conditions_set?: Readonly<Record<string, string>>;
  readonly conditions_set_range?: readonly Json[];
  readonly content_length?: string;
  /** Parts of the credential that differ; `date: '-1d'` is yesterday. The form is signed with the same parts. */
  readonly credential?: Partial<Record<'access_key' | 'date' | 'region' | 'service' | 'terminal', string>>;
  readonly credentials?: string;
  readonly field_add_dup?: Readonly<Record<string, readonly string[]>>;
  readonly field_drop?: string;
  readonly field_rename?: Readonly<Record<string, string>>;
  readonly field_set?: Readonly<Record<string, string>>;
  readonly fields_only?: readonly string[];
  readonly file?: FileOp;
  readonly key?: string;
  readonly line_ending?: string;
  readonly part_headers_flood?: number;
  readonly policy_b64?: string;
  readonly policy_b64_padding?: boolean;
  readonly policy_b64_prefix?: string;
  readonly policy_raw?: string;
  readonly preamble?: string;
  readonly repeat?: number;
  readonly request_header?: Readonly<Record<string, string>>;
  readonly sign_request?: { readonly filename?: string; readonly sizeBytes?: number };
  readonly slow_body_seconds?: number;
  readonly url_bucket?: string;
}

export interface Expected {
  readonly status: number;
  readonly code?: string;
  readonly message?: string;
  readonly extra?: {
    readonly alternative_status?: number;
    readonly object_key?: string;
    readonly no_header?: string;
    readonly headers?: readonly string[] | Readonly<Record<string, string>>;
    readonly xml?: readonly string[] | Readonly<Record<string, string>>;
    readonly xml_root?: string;
    readonly children?: Readonly<Record<string, string>>;
    readonly location_query?: readonly string[];
    readonly body?: string;
  };
}

export interface Case {
  readonly id: string;
  readonly ops: readonly Op[];
  readonly expect: Expected;
  readonly applies: 'yes' | 'adapt' | 'no';
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../data/${name}`, import.meta.url), 'utf8'));

export const { ceph, cases } = read('post-policy-cases.json') as {
  readonly ceph: readonly CephCase[];
  readonly cases: readonly Case[];
};

/** Of the gateway's answers, those that are known to be others than ours. */
export const knownToDiffer = new Set(read('post-policy-differs.json') as string[]);
