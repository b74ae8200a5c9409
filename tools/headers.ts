/**
 * The response headers of the app, in one place: the server sends them, `public/_headers` repeats them
 * for hosts that read it, and the page carries the policy as <meta> for hosts that do neither.
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

/** What the app uses of the phone; nobody in a frame of it may. */
const USED = [
  // Dictation, on the phone itself where the browser can.
  'microphone',
  'on-device-speech-recognition',
  // Reads the QR code of a server, after a tap; its picture plays by itself.
  'camera',
  'autoplay',
  // Sounds that came with a result go on while something else is looked at.
  'media-playback-while-not-visible',
  // The passkey of the app lock.
  'publickey-credentials-get',
  'publickey-credentials-create',
  // Copy buttons; what is pasted needs no permission.
  'clipboard-write',
  // A download, as long as it is looked at.
  'screen-wake-lock',
  // Servers in the person's own network, and on this machine.
  'local-network',
  'local-network-access',
  'loopback-network',
];

/**
 * Everything else that Chromium 156 controls (`document.featurePolicy.features()`), but client hints,
 * which are sent only to who asks for them. It warns of names that it does not know, so those that it
 * has on Android alone are left out.
 */
const UNUSED = [
  'accelerometer',
  'aria-notify',
  'browsing-topics',
  'captured-surface-control',
  'clipboard-read',
  'compute-pressure',
  'cross-origin-isolated',
  'deferred-fetch',
  'deferred-fetch-minimal',
  'digital-credentials-create',
  'digital-credentials-get',
  'display-capture',
  'encrypted-media',
  'fullscreen',
  'gamepad',
  'geolocation',
  'gyroscope',
  'hid',
  'identity-credentials-get',
  'idle-detection',
  'interest-cohort',
  'keyboard-map',
  'language-detector',
  'language-model',
  'local-fonts',
  'magnetometer',
  'midi',
  'otp-credentials',
  'payment',
  'picture-in-picture',
  'private-state-token-issuance',
  'private-state-token-redemption',
  'serial',
  'speaker-selection',
  'storage-access',
  'summarizer',
  'sync-xhr',
  'translator',
  'unload',
  'usb',
  'window-management',
  'xr-spatial-tracking',
];

/** Every header that goes with every response of the app. */
export const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Permissions-Policy': [
    ...USED.map((name) => `${name}=(self)`),
    ...UNUSED.map((name) => `${name}=()`),
  ].join(', '),
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

/**
 * The headers in the notation of static hosts that read `_headers`. Kept as `public/_headers`; a test
 * compares the two.
 */
export function headersFile(): string {
  const lines = ['/*', ...Object.entries(HEADERS).map(([name, value]) => `  ${name}: ${value}`)];
  lines.push(`  Cache-Control: ${REVALIDATE}`);
  lines.push('/assets/*', '  ! Cache-Control', `  Cache-Control: ${IMMUTABLE}`);
  return `${lines.join('\n')}\n`;
}
