/**
 * How the app introduces itself to authorization servers: the same words in its metadata document
 * (Client ID Metadata Documents) and where it registers (RFC 7591).
 */
import type { OAuthClientMetadata } from '@modelcontextprotocol/client';

/** Path of the page that sign-ins come back to. */
export const CALLBACK_PATH = '/oauth/callback';
/** Path of the metadata document beside the app; its address is the client id. */
export const DOCUMENT_PATH = '/client-metadata.json';

/** `origin` is the app's own. */
export function clientMetadata(origin: string): OAuthClientMetadata {
  return {
    client_name: 'Deft',
    client_uri: `${origin}/`,
    redirect_uris: [origin + CALLBACK_PATH],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    // A web app can keep no secret.
    token_endpoint_auth_method: 'none',
  };
}

/** The metadata document of an app that is served at this origin. */
export function clientDocument(origin: string): Readonly<Record<string, unknown>> {
  return {
    client_id: origin + DOCUMENT_PATH,
    application_type: 'web',
    ...clientMetadata(origin),
  };
}

/**
 * The address of the metadata document, where one is served beside the app and an authorization
 * server could fetch it: over https, and saying of itself that it is for this origin.
 */
export async function findDocument(
  origin: string,
  fetch: typeof globalThis.fetch,
): Promise<string | undefined> {
  if (!origin.startsWith('https:')) return undefined;
  const address = origin + DOCUMENT_PATH;
  try {
    const response = await fetch(address, { credentials: 'omit', redirect: 'error' });
    const document: unknown = await response.json();
    const isOurs =
      response.ok &&
      typeof document === 'object' &&
      document !== null &&
      (document as Record<string, unknown>).client_id === address;
    return isOurs ? address : undefined;
  } catch {
    return undefined;
  }
}
