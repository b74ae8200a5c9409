/** The address of a model interface, as a person types it: checked and brought into one form. */
import type { BrainError } from '../brain.ts';
import type { CloudKind } from '../../store/records.ts';

/** The path under which an interface is mostly found, used where an address has none. */
const USUAL_PATH: Readonly<Record<CloudKind, string>> = {
  openai: '/v1',
  anthropic: '/v1',
  gemini: '/v1beta',
};

/** Ends that people copy along with an address. */
const ENDPOINT = /\/(chat\/completions|completions|messages|models|responses)$/;

/** Whether a host name can only mean this device or the network at hand. IPv6 may be in brackets. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/^\[|\]$/g, '');
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) {
    const [a = 0, b = 0] = host.split('.').map(Number);
    return (
      a === 127 ||
      a === 10 ||
      (a === 172 && b >= 16 && b <= 31) ||
      (a === 192 && b === 168) ||
      (a === 169 && b === 254) ||
      // Shared address space (RFC 6598), where overlay networks such as Tailscale live.
      (a === 100 && b >= 64 && b <= 127)
    );
  }
  if (host.includes(':')) return host === '::1' || /^f[cd]|^fe[89ab]/.test(host);
  return !host.includes('.') || /\.(localhost|local|lan|internal|home\.arpa)$/.test(host);
}

function bad(message: string, advice: string): { ok: false; error: BrainError } {
  return { ok: false, error: { kind: 'protocol', message, advice } };
}

/**
 * Checks an address: https anywhere, http only on this device or in the network at hand, nothing
 * secret inside. A missing scheme or path is filled in; an endpoint's end is taken off.
 */
export function readAddress(
  typed: string,
  kind: CloudKind,
):
  | { readonly ok: true; readonly baseUrl: string }
  | { readonly ok: false; readonly error: BrainError } {
  const text = typed.trim();
  const example = 'It looks like https://api.example.com/v1.';
  if (!text) return bad('The address is empty.', `Enter the address of the server. ${example}`);

  const host = /^([^/:]+|\[[^\]]+\])(:\d+)?(\/|$)/.exec(text)?.[1];
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text)
    ? text
    : `${host && isPrivateHost(host) ? 'http' : 'https'}://${text}`;
  if (/\s/.test(text) || !URL.canParse(full))
    return bad(`"${text.slice(0, 80)}" is not an address.`, `Enter it in full. ${example}`);

  const url = new URL(full);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return bad('The address must begin with https.', `Enter it in full. ${example}`);
  if (url.username || url.password)
    return bad(
      'The address holds a name or a password.',
      'Take it out: the key has a field of its own, where it is stored encrypted.',
    );
  if (url.search || url.hash)
    return bad(
      'The address has a part after ? or #.',
      'Take it out: only the base address is needed, and a key belongs in its own field.',
    );
  if (url.protocol === 'http:' && !isPrivateHost(url.hostname))
    return bad(
      `http to ${url.hostname} would send the key and your words unprotected.`,
      'Use https. Plain http works only for this device and your own network.',
    );

  const path = url.pathname.replace(/\/+$/, '').replace(ENDPOINT, '');
  return { ok: true, baseUrl: `${url.origin}${path || USUAL_PATH[kind]}` };
}
