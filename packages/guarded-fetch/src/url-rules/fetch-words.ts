/** What is at the addresses: files that are fetched, or receivers that webhooks are posted to. */
export type Purpose = 'files' | 'webhooks';

interface FetchWords {
  /** Ends of sentences about the field with the URL. */
  readonly form: string;
  readonly port: string;
  /** What to do if an address is not public. */
  readonly address: string;
  /** What to do if a name has such an address. */
  readonly name: string;
}

/** The words of a refusal that depend on what the URL is for. */
export const WORDS: Readonly<Record<Purpose, FetchWords>> = {
  files: {
    form: 'must be an https URL such as https://files.example.com/a.pdf',
    port: 'files are fetched only from port 443',
    address: 'make the file publicly accessible, or add the address to',
    name: 'make the file publicly accessible, or add its host to',
  },
  webhooks: {
    form: 'must be an https URL that receives webhooks, such as https://example.com/webhooks',
    port: 'webhooks are posted only to port 443',
    address: 'make the receiver publicly accessible, or ask the operator to add the address to',
    name: 'make the receiver publicly accessible, or ask the operator to add its host to',
  },
};
