/** The windows of a sign-in, in a real browser. */
import type { SignInWindows } from './types.ts';

const FEATURES = 'popup,width=480,height=720';
const MOMENT = 'One moment: Deft is looking for the sign-in page.';

/** An installed app has no windows to open beside it; it goes to the sign-in itself and comes back. */
function isInstalled(): boolean {
  return matchMedia('(display-mode: standalone), (display-mode: fullscreen)').matches;
}

export function browserWindows(): SignInWindows {
  return {
    popup() {
      if (isInstalled()) return null;
      const window = open('', '_blank', FEATURES);
      if (!window) return null;
      // The page that will be in it is somebody else's, and gets no hold of this one.
      window.opener = null;
      window.document.title = 'Deft';
      window.document.body.textContent = MOMENT;
      return {
        go: (url) => window.location.replace(url),
        close: () => window.close(),
      };
    },
    leave: (url) => location.assign(url),
    here: () => location.pathname + location.search,
    onReturn(listener) {
      const seen = (): void => {
        if (document.visibilityState === 'visible') listener();
      };
      document.addEventListener('visibilitychange', seen);
      addEventListener('pageshow', listener);
      addEventListener('focus', listener);
      return () => {
        document.removeEventListener('visibilitychange', seen);
        removeEventListener('pageshow', listener);
        removeEventListener('focus', listener);
      };
    },
  };
}
