/** Every way in which a sign-in fails, as a sentence on what happened and one on what to do. */
import type { HostError } from '../types.ts';

const AGAIN = 'Sign in again when you are ready.';

function auth(message: string, advice: string, detail?: string): HostError {
  return {
    code: 'auth',
    message,
    advice,
    signIn: true,
    ...(detail ? { detail: detail.slice(0, 300) } : {}),
  };
}

export const expired = (name: string): HostError =>
  auth(`The sign-in at ${name} has run out.`, "Sign in again on the server's page.");

export const wanted = (name: string): HostError =>
  auth(`${name} wants you to sign in.`, "Sign in on the server's page.");

export const declined = (name: string): HostError =>
  auth(`You did not allow the sign-in at ${name}.`, `Nothing was changed. ${AGAIN}`);

export const cancelled = (name: string): HostError =>
  auth(`The sign-in at ${name} was left unfinished.`, AGAIN);

export const tooSlow = (name: string): HostError =>
  auth(`The sign-in at ${name} took too long.`, AGAIN);

export const underWay = (name: string): HostError =>
  auth(
    `A sign-in at ${name} is under way in another tab.`,
    'Finish or cancel it there, then try again here.',
  );

export const unasked = (): HostError =>
  auth(
    'No sign-in is under way in this browser.',
    "Open the server's page in the browser in which you use this app, and sign in from there.",
  );

export const wrongState = (): HostError =>
  auth(
    'This answer belongs to another sign-in and was not used.',
    'If a sign-in is open in another tab, finish it there. Otherwise sign in again.',
  );

export const wrongIssuer = (name: string): HostError =>
  auth(
    `The answer to the sign-in at ${name} came from someone else than was asked, and was not used.`,
    'Try once more. If it goes on, do not sign in, and tell whoever runs the server.',
  );

export const wrongMetadata = (name: string, detail: string): HostError =>
  auth(
    `The server that signs you in at ${name} does not say who it is in the way it must.`,
    'Nothing was sent to it. Tell whoever runs the server.',
    detail,
  );

export const wrongResource = (name: string, detail: string): HostError =>
  auth(
    `${name} names another address than its own as the one to sign in for.`,
    'Nothing was sent. Check the address that you added, or tell whoever runs the server.',
    detail,
  );

export const notAsked = (name: string): HostError => ({
  ...auth(
    `${name} does not say where to sign in.`,
    'If it wants a key, add the server again with one from whoever runs it.',
  ),
  signIn: false,
});

export const needsClient = (name: string, redirectUrl: string): HostError =>
  auth(
    `${name} signs in only apps that it knows, and this app could not introduce itself.`,
    `Ask whoever runs it for a client id for the address ${redirectUrl}, and enter it below.`,
  );

export const refusedApp = (name: string, detail: string): HostError =>
  auth(
    `${name} does not know this app, or not any more.`,
    'Sign in again: the app then introduces itself anew. With a client id of yours, check that.',
    detail,
  );

export const refused = (name: string, detail: string): HostError =>
  auth(`${name} did not sign you in.`, AGAIN, detail);

export const refusedToken = (name: string): HostError =>
  auth(
    `${name} does not accept what its own sign-in gave out.`,
    'Sign in once more. If it goes on, tell whoever runs the server.',
  );

export const incompatible = (name: string, detail: string): HostError =>
  auth(
    `The sign-in at ${name} is of a kind that is not safe enough for this app.`,
    'It must use authorization codes with PKCE (S256) over https. Tell whoever runs the server.',
    detail,
  );

export const senseless = (name: string, detail: string): HostError =>
  auth(
    `The server that signs you in at ${name} gave an answer that makes no sense.`,
    'Try again in a while. If it goes on, tell whoever runs the server.',
    detail,
  );

export const signInOffline = (name: string): HostError => ({
  code: 'offline',
  message: `There is no network, so the sign-in at ${name} can't go on.`,
  advice: 'Try again when the phone is online.',
  signIn: true,
});

export const signInUnreachable = (name: string, host: string): HostError => ({
  code: 'unreachable',
  message: `${host}, which signs you in at ${name}, did not answer, or does not let web apps use it (CORS).`,
  advice:
    'Try again in a while. If it goes on, whoever runs it must allow this app’s origin to read its metadata, and to post to its token and registration addresses.',
  signIn: true,
});
