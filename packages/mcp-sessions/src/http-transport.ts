import {
  type FetchLike,
  type JSONRPCMessage,
  type OAuthClientInformationContext,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { boundedFetch } from './bounded-fetch.ts';
import type { McpAddress, McpOAuth } from './mcp-address.ts';
import { MAX_MESSAGE_BYTES } from './message-limit.ts';
import { type AskForeign, oauthFetch } from './oauth-fetch.ts';
import { ToolLists } from './tool-lists.ts';
import type { LeftOutTool } from './tool-problem.ts';

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];
type HttpAddress = Extract<McpAddress, { kind: 'http' }>;

/** After these tries a broken stream of a call is given up. They take 1.5 s. */
const RECONNECTION = {
  initialReconnectionDelay: 300,
  reconnectionDelayGrowFactor: 2,
  maxReconnectionDelay: 1200,
  maxRetries: 3,
};

/** The code of the answer that we make if the server's own can no longer arrive. */
export const STREAM_LOST_CODE = -32_050;

/**
 * A server that is reached by streamable HTTP. If a request's stream is lost, the transport of the SDK reports
 * nothing to the request, which would wait for its timeout: this one answers the request with an error.
 */
export class HttpTransport extends StreamableHTTPClientTransport {
  readonly #waiting = new Set<string | number>();
  readonly #lists = new ToolLists();

  constructor({ url, headers, oauth }: HttpAddress, askForeign: AskForeign) {
    super(new URL(url), {
      reconnectionOptions: RECONNECTION,
      fetch: byOrigin(new URL(url), headers, oauthFetch(askForeign)),
      ...(oauth === null ? {} : { authProvider: new ClientCredentials(oauth) }),
    });
  }

  /** The tools that are missing in the last list. */
  get leftOut(): readonly LeftOutTool[] {
    return this.#lists.leftOut;
  }

  override async start(): Promise<void> {
    const receive = this.onmessage;
    this.onmessage = (message: JSONRPCMessage) => {
      if ('id' in message && message.id !== undefined && !('method' in message)) this.#waiting.delete(message.id);
      try {
        receive?.(this.#lists.received(message, () => JSON.stringify(message).length));
      } catch (error) {
        // Such as JSON that is nested too deep.
        this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      }
    };
    await super.start();
  }

  override send(message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions): Promise<void> {
    if (Array.isArray(message) || !('method' in message) || !('id' in message)) return super.send(message, options);
    const { id } = message;
    this.#waiting.add(id);
    this.#lists.sent(message);
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      if (!this.#waiting.delete(id)) return;
      const error = { code: STREAM_LOST_CODE, message: 'The connection was lost during the call.' };
      this.onmessage?.({ jsonrpc: '2.0', id, error });
    };
    return super.send(message, { ...options, onRequestStreamEnd });
  }
}

/**
 * Adds the headers of the agency to requests to its own server, whose address the operator has written. The server names all
 * other addresses: they get no headers of the agency, and are reached only through the guard.
 */
function byOrigin(own: URL, headers: HttpAddress['headers'], foreign: ReturnType<typeof oauthFetch>): FetchLike {
  const base = boundedFetch(MAX_MESSAGE_BYTES);
  return (url, init) => {
    const target = new URL(url);
    if (!isSameServer(own, target)) return foreign(target, init);
    const all = new Headers(headers);
    for (const [name, value] of new Headers(init?.headers)) all.set(name, value);
    return base(url, { ...init, headers: all });
  };
}

/** True also for an http address's https form, to which the SDK follows redirects. */
function isSameServer(own: URL, other: URL): boolean {
  const isUpgrade = own.protocol === 'http:' && other.protocol === 'https:' && own.port === '' && other.port === '';
  return own.host === other.host && (own.protocol === other.protocol || isUpgrade);
}

/**
 * The authorization server that issued the first token for these credentials. `oauth` is one object for all connections to
 * a server, until the agency is loaded again.
 */
const issuers = new WeakMap<McpOAuth, string>();

/**
 * Gets tokens with a client id and a client secret. The server names the authorization server. The SDK refuses another one
 * than `issuer`, or if the agency names none, another one than that of the first token: a server that was broken into must
 * not send the secret elsewhere.
 */
class ClientCredentials implements OAuthClientProvider {
  readonly #oauth: McpOAuth;
  #tokens: OAuthTokens | undefined;
  readonly redirectUrl = undefined;

  constructor(oauth: McpOAuth) {
    this.#oauth = oauth;
  }

  get clientMetadata() {
    const { scope } = this.#oauth;
    return {
      client_name: 'Runwire',
      redirect_uris: [],
      grant_types: ['client_credentials'],
      token_endpoint_auth_method: 'client_secret_basic',
      ...(scope === null ? {} : { scope }),
    };
  }

  clientInformation() {
    const { clientId, clientSecret } = this.#oauth;
    const issuer = this.#oauth.issuer ?? issuers.get(this.#oauth) ?? null;
    return { client_id: clientId, client_secret: clientSecret, ...(issuer === null ? {} : { issuer }) };
  }

  tokens(): OAuthTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: OAuthTokens, about?: OAuthClientInformationContext): void {
    this.#tokens = tokens;
    if (about !== undefined && !issuers.has(this.#oauth)) issuers.set(this.#oauth, about.issuer);
  }

  prepareTokenRequest(scope?: string): URLSearchParams {
    const wanted = this.#oauth.scope ?? scope;
    return new URLSearchParams({
      grant_type: 'client_credentials',
      ...(wanted === undefined ? {} : { scope: wanted }),
    });
  }

  redirectToAuthorization(): never {
    throw new Error('The authorization server wants a person to sign in; client credentials cannot.');
  }

  saveCodeVerifier(): void {}

  codeVerifier(): never {
    throw new Error('Client credentials have no code verifier.');
  }
}
