/**
 * Which token a refused request carried. By the time its answer is looked at there may be a newer
 * one, and renewing that would spend a good token.
 */
const carried = new WeakMap<Response, string>();

/** Notes the bearer token among the headers of the request that `response` answers. */
export function noteBearer(response: Response, headers: HeadersInit | undefined): void {
  const token = /^Bearer (.+)$/.exec(new Headers(headers).get('authorization') ?? '')?.[1];
  if (token !== undefined) carried.set(response, token);
}

export function bearerOf(response: Response): string | undefined {
  return carried.get(response);
}
