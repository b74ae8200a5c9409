/** What can go wrong with a download, in sentences for the person. */

/**
 * offline: no network · unreachable: the connection failed or broke · missing: no such file there ·
 * refused: the host wants a sign-in or payment · server: the host failed · busy: it asks to wait ·
 * page: a web page came in place of the file · size: more or fewer bytes than announced · damaged:
 * wrong content · changed: other code than came from there before · room: no space on the phone · evicted: the browser cleared it · internal: a fault
 * of ours
 */
export type DownloadFaultKind =
  | 'offline'
  | 'unreachable'
  | 'missing'
  | 'refused'
  | 'server'
  | 'busy'
  | 'page'
  | 'size'
  | 'damaged'
  | 'changed'
  | 'room'
  | 'evicted'
  | 'internal';

export interface DownloadFault {
  readonly kind: DownloadFaultKind;
  /** What happened. */
  readonly message: string;
  /** What to do. */
  readonly advice: string;
}

export class DownloadError extends Error {
  override readonly name = 'DownloadError';
  readonly fault: DownloadFault;

  constructor(fault: DownloadFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** The file and the host that a sentence is about. */
interface About {
  /** Last part of the file's path. */
  readonly file: string;
  readonly host: string;
}

const CONTINUES = 'Press Download again: it goes on where it stopped.';
const AGAIN = 'Press Download to try again.';

const SENTENCES: Readonly<
  Record<
    Exclude<DownloadFaultKind, 'room' | 'evicted'>,
    (about: About, detail: string) => [string, string]
  >
> = {
  offline: () => [
    'There is no network.',
    `Connect and press Download again: it goes on where it stopped.`,
  ],
  unreachable: ({ host }) => [`The connection to ${host} was lost.`, CONTINUES],
  missing: ({ file, host }) => [
    `${host} does not have the file ${file}.`,
    'Choose another model, or try again later.',
  ],
  refused: ({ file, host }, status) => [
    `${host} does not hand out the file ${file} (${status}).`,
    'Choose another model: this one asks for a sign-in at its host.',
  ],
  server: ({ host }, status) => [`${host} failed to answer (${status}).`, 'Try again later.'],
  busy: ({ host }, wait) => [
    `${host} is busy and asks to wait ${wait}.`,
    'Press Download again after that: it goes on where it stopped.',
  ],
  page: ({ file, host }) => [
    `${host} answered with a web page in place of the file ${file}.`,
    'If this network asks for a sign-in (hotel, train, café), sign in and press Download again.',
  ],
  size: ({ file, host }, sizes) => [
    `The file ${file} at ${host} does not have the announced size (${sizes}).`,
    'Nothing of it was kept. Try again later or choose another model.',
  ],
  damaged: ({ file }, how) => [
    `The file ${file} arrived damaged (${how}), so it was not kept.`,
    AGAIN,
  ],
  changed: ({ file, host }) => [
    `${host} now hands out other code as ${file} than when this model was first fetched, so it was not kept.`,
    'If you trust it all the same, delete the model and download it anew. If not, choose another.',
  ],
  internal: ({ file }, detail) => [`The file ${file} could not be stored (${detail}).`, AGAIN],
};

/** A fault about one file. `detail` goes into the sentence where it has a place for it. */
export function fileFault(kind: keyof typeof SENTENCES, url: string, detail = ''): DownloadError {
  const { host, pathname } = new URL(url);
  const file = decodeURIComponent(pathname.slice(pathname.lastIndexOf('/') + 1));
  const [message, advice] = SENTENCES[kind]({ file, host }, detail);
  return new DownloadError({ kind, message, advice });
}

/** Bytes in words: `320 MB`, `1.2 GB`; decimal, as phones count. */
export function inWords(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  return bytes >= 1e6 ? `${Math.round(bytes / 1e6)} MB` : `${Math.ceil(bytes / 1e3)} kB`;
}

/**
 * There is not enough room: bytes that are `needed` and that are `free`, undefined where that is not
 * known. Browsers often tell a free space that is not there, so it may turn out at any byte.
 */
export function roomFault(needed: number | undefined, free?: number): DownloadError {
  const has = free === undefined ? 'ran out of room' : `has ${inWords(free)} left for this app`;
  const needs = needed === undefined ? 'more' : `${inWords(needed)} more`;
  return new DownloadError({
    kind: 'room',
    message: `This phone ${has}; the model needs ${needs}.`,
    advice:
      'Delete another model, photos or apps, then press Download again: it goes on where it stopped.',
  });
}

/** A file that was brought in from this phone is not here any more, or not all of it. */
export const sourceGone = ({ label }: { readonly label: string }): DownloadFault => ({
  kind: 'evicted',
  message: `Deft no longer has the file that ${label} came from.`,
  advice: 'Remove it from the list and add the file again.',
});

/** The browser cleared files behind our back; `gone` of `all` files. */
export const evictedFault = (label: string, gone: number, all: number): DownloadFault => ({
  kind: 'evicted',
  message:
    gone === all
      ? `The browser has cleared ${label} from this phone to make room.`
      : `${gone} of the ${all} files of ${label} are missing or damaged: the browser may have cleared them to make room.`,
  advice:
    'Download it again: only what is missing is fetched. On the home screen, Deft is cleared less easily.',
});
