/**
 * The offer to put Deft on the home screen: kept until there has been a first useful answer, never
 * made again once the person closed it.
 */

/** Chromium's event; not in TypeScript's library. */
interface InstallPromptEvent extends Event {
  prompt(): Promise<{ outcome: 'accepted' | 'dismissed' }>;
}

/** `prompt`: the browser can ask · `share`: iOS, where only the person can · `none`: not here. */
export type InstallWay = 'prompt' | 'share' | 'none';

let event = $state.raw<InstallPromptEvent | null>(null);
let useful = $state(false);
let installed = $state(standalone());

function standalone(): boolean {
  const ios = (navigator as { standalone?: boolean }).standalone === true;
  return ios || matchMedia('(display-mode: standalone)').matches;
}

/** iPhones and iPads; newer iPads say that they are a Mac, with touch. */
function apple(): boolean {
  const touch = navigator.maxTouchPoints > 1;
  return /iPhone|iPad|iPod/.test(navigator.userAgent) || (/Mac/.test(navigator.userAgent) && touch);
}

/** Listens for the browser's offer; called once, as early as possible. */
export function watchInstall(): void {
  addEventListener('beforeinstallprompt', (offered) => {
    offered.preventDefault();
    event = offered as InstallPromptEvent;
  });
  addEventListener('appinstalled', () => {
    installed = true;
    event = null;
  });
}

/** To be called when a turn has ended with an answer. */
export function noteUsefulAnswer(): void {
  useful = true;
}

/** Reactive. */
export const install = {
  /** Whether this is a moment to make the offer by ourselves. */
  get timely(): boolean {
    return useful && !installed;
  },
  get installed(): boolean {
    return installed;
  },
  get way(): InstallWay {
    if (installed) return 'none';
    if (event) return 'prompt';
    return apple() ? 'share' : 'none';
  },
};

/** Shows the browser's own question; true where the person said yes. It can be shown once. */
export async function askToInstall(): Promise<boolean> {
  const asked = event;
  if (!asked) return false;
  event = null;
  const { outcome } = await asked.prompt();
  return outcome === 'accepted';
}
