/**
 * The response headers of the app, in one place: the server sends them, `_headers` in the build
 * repeats them for hosts that read it, and the page carries the policy as <meta> for hosts that do
 * neither.
 */

/** Names of the Trusted Types policies that the app and its libraries really make. */
const TRUSTED_TYPES = ['svelte-trusted-html', 'sw-url', 'worker-url'];

const POLICY: Readonly<Record<string, readonly string[]>> = {
  'default-src': ["'none'"],
  // WebAssembly of the engines; no eval, no inline script.
  'script-src': ["'self'", "'wasm-unsafe-eval'"],
  'style-src': ["'self'"],
  // Results of tools hold images as data; nothing is loaded from elsewhere.
  'img-src': ["'self'", 'data:', 'blob:'],
  // Sounds that came with a result.
  'media-src': ['blob:'],
  'font-src': ["'self'"],
  // MCP servers and cloud models are wherever the person says, in the clear only on this machine.
  'connect-src': ["'self'", 'https:', 'http://localhost:*', 'http://127.0.0.1:*'],
  'worker-src': ["'self'"],
  'manifest-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'self'"],
  'frame-ancestors': ["'none'"],
  'require-trusted-types-for': ["'script'"],
  'trusted-types': TRUSTED_TYPES,
};

/** Directives that a browser ignores in <meta> (CSP 3, section 3.3). */
const HEADER_ONLY = new Set(['frame-ancestors']);

const join = (entries: readonly (readonly [string, readonly string[]])[]): string =>
  entries.map(([name, values]) => [name, ...values].join(' ')).join('; ');

/** The policy as a response header. */
export const CONTENT_SECURITY_POLICY = join(Object.entries(POLICY));

/** The policy as the content of <meta http-equiv="Content-Security-Policy">. */
export const META_POLICY = join(Object.entries(POLICY).filter(([name]) => !HEADER_ONLY.has(name)));

/** What the app uses of the phone is allowed to itself; what it does not use, to nobody. */
const PERMISSIONS: Readonly<Record<string, 'self' | 'none'>> = {
  microphone: 'self',
  // Reads the QR code of a server, after a tap.
  camera: 'self',
  // The passkey of the app lock.
  'publickey-credentials-get': 'self',
  'publickey-credentials-create': 'self',
  'display-capture': 'none',
  geolocation: 'none',
  payment: 'none',
  usb: 'none',
  serial: 'none',
  hid: 'none',
  midi: 'none',
  accelerometer: 'none',
  gyroscope: 'none',
  magnetometer: 'none',
  'browsing-topics': 'none',
};

/** Every header that goes with every response of the app. */
export const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Permissions-Policy': Object.entries(PERMISSIONS)
    .map(([name, who]) => `${name}=(${who === 'self' ? 'self' : ''})`)
    .join(', '),
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  // A sign-in window may be opened and watched; nobody who opens the app gets hold of it.
  'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** Files whose name holds a hash of what is in them never change. */
export const IMMUTABLE = 'public, max-age=31536000, immutable';
/** Everything else is asked for again each time, by its ETag. */
export const REVALIDATE = 'no-cache';

/** The headers in the notation of static hosts that read `_headers`. */
export function headersFile(): string {
  const lines = ['/*', ...Object.entries(HEADERS).map(([name, value]) => `  ${name}: ${value}`)];
  lines.push(`  Cache-Control: ${REVALIDATE}`);
  lines.push('/assets/*', '  ! Cache-Control', `  Cache-Control: ${IMMUTABLE}`);
  return `${lines.join('\n')}\n`;
}
